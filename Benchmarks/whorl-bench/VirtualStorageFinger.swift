import Glibc

/// Touches libfprint's virtual match-on-chip reader through its socket.
struct VirtualStorageFinger: Sendable {
  let socket: String

  /// Presents the finger of this name.
  func touch(_ finger: String) throws(BenchFailure) {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(socket.utf8)
    guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { throw BenchFailure("\(socket) is too long") }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    // connect borrows the address for the call.
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    let command = Array("SCAN \(finger)".utf8)
    guard connected == 0, write(descriptor, command, command.count) == command.count else {
      throw BenchFailure("nobody takes touches on \(socket)")
    }
  }
}
