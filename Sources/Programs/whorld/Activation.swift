internal import CSystemd
internal import Glibc

/// What systemd gives a service that it starts for a socket (sd_listen_fds(3), sd_notify(3)): the one thing that this
/// program takes from its environment, which is systemd's own then.
struct Activation {
  /// Listens. Not closed by this value.
  let socket: Int32

  /// Clears the environment but for systemd's own variables, and takes the socket.
  ///
  /// Nil unless systemd has passed exactly one socket, and that listens at this path.
  ///
  /// - Parameter path: where the socket has to be.
  static func takeSocket(at path: String) -> Activation? {
    let names: [String] = ["LISTEN_PID", "LISTEN_FDS", "NOTIFY_SOCKET"]
    let kept = names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
    clearenv()
    for (name, value) in kept { setenv(name, value, 1) }
    // Not the variables of another process: sd_listen_fds compares LISTEN_PID.
    guard sd_listen_fds(1) == 1 else { return nil }
    let socket: Int32 = 3
    // The length 0: the path ends with its NUL
    guard sd_is_socket_unix(socket, Int32(SOCK_STREAM.rawValue), 1, path, 0) > 0 else { return nil }
    return Activation(socket: socket)
  }

  /// Tells systemd how the service stands.
  func notify(_ state: String) {
    // Without a NOTIFY_SOCKET nobody waits for it.
    sd_notify(0, state)
  }
}
