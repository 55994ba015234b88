internal import CSystemd
internal import Glibc
internal import Primitives

/// Socket activation by systemd (sd_listen_fds(3), sd_notify(3)), and the credentials of the service. The program reads
/// no other environment variables than these, which systemd sets.
struct Activation {
  /// The listening socket. Not closed by this value.
  let socket: Int32
  /// The folder of the service's credentials; nil if it has none.
  let credentials: String?

  /// Clears the environment except for systemd's variables, and takes the socket.
  ///
  /// Nil unless systemd has passed exactly one socket, which listens at this path.
  ///
  /// - Parameter path: the required path of the socket.
  static func takeSocket(at path: String) -> Activation? {
    let names: [String] = ["LISTEN_PID", "LISTEN_FDS", "NOTIFY_SOCKET"]
    let credentials = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }
    let kept = names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
    clearenv()
    for (name, value) in kept { setenv(name, value, 1) }
    // sd_listen_fds compares LISTEN_PID, so variables for another process are ignored.
    guard sd_listen_fds(1) == 1 else { return nil }
    let socket: Int32 = 3
    // The length 0: the path ends with its NUL
    guard sd_is_socket_unix(socket, Int32(SOCK_STREAM.rawValue), 1, path, 0) > 0 else { return nil }
    return Activation(socket: socket, credentials: credentials)
  }

  /// Closes every connection for this long, and those that wait already, so that no client waits for a service that cannot
  /// serve.
  func refuse(for time: Duration) {
    let end = SystemClock.awake.nanoseconds + UInt64(time.components.seconds) * 1_000_000_000
    var left: Int32 = 0
    repeat {
      var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      // The address is not needed.
      if poll(&waiting, 1, left) > 0 {
        let connection = accept4(socket, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        if connection >= 0 { close(connection) }
      }
      let now = SystemClock.awake.nanoseconds
      left = Int32(clamping: (end - min(end, now)) / 1_000_000)
    } while left > 0
  }

  /// Tells systemd the state of the service.
  func notify(_ state: String) {
    // Does nothing without a NOTIFY_SOCKET.
    sd_notify(0, state)
  }
}
