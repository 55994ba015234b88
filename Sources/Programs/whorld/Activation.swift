internal import CSystemd
internal import Glibc

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

  /// Tells systemd the state of the service.
  func notify(_ state: String) {
    // Does nothing without a NOTIFY_SOCKET.
    sd_notify(0, state)
  }
}
