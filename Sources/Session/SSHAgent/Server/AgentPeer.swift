internal import CLinux
internal import Glibc
internal import Whorl

/// The program at the other end of a connection, as far as the kernel tells: another program of the user can replace
/// itself or lend its socket, so that its name is information and no permission.
struct AgentPeer: Sendable {
  let process: pid_t
  /// The path of its executable; nil where the kernel does not tell.
  let path: String?
  let arguments: [String]

  /// Nil for a connection of another user.
  init?(of socket: Int32) {
    guard whorl_socket_peer_user(socket) == geteuid() else { return nil }
    process = whorl_socket_peer(socket)
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // Writes at most the buffer's size, without a terminator.
    let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
    path = count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    arguments = Self.arguments(of: process)
  }

  /// What prompts are queued by: all processes of one executable.
  var program: String { path ?? "process \(process)" }

  /// For people.
  var words: String { Visible.text(path ?? "process \(process), unverified") }

  private static func arguments(of process: pid_t) -> [String] {
    let file = open("/proc/\(process)/cmdline", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    // read: writes at most as many bytes as it is told
    let count = read(file, &buffer, buffer.count)
    return buffer.prefix(max(count, 0)).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
