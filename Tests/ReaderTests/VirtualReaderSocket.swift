import Glibc
import Testing

extension VirtualReader {
  /// Gives one command to the virtual storage reader, such as `SCAN anna-right-index`.
  @discardableResult
  func command(_ text: String) throws -> String {
    try exchange(Array(text.utf8), readsAnswer: text == "LIST")
  }

  /// Presses a finger on the virtual image reader.
  func press(_ image: RidgeImage) throws {
    try exchange(image.message, readsAnswer: false)
  }

  /// Has the virtual image reader report a touch it could not use.
  func retry(code: Int32) throws {
    try exchange(withUnsafeBytes(of: (Int32(-1), code)) { Array($0) }, readsAnswer: false)
  }

  /// Has the virtual image reader report an error of the device.
  func deviceError(code: Int32) throws {
    try exchange(withUnsafeBytes(of: (Int32(-2), code)) { Array($0) }, readsAnswer: false)
  }

  @discardableResult
  private func exchange(_ bytes: [UInt8], readsAnswer: Bool) throws -> String {
    let descriptor = try connected()
    defer { close(descriptor) }
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    guard readsAnswer else { return "" }
    var answer = [UInt8](repeating: 0, count: 4_096)
    let count = read(descriptor, &answer, answer.count)
    return String(decoding: answer.prefix(max(count, 0)), as: UTF8.self)
  }

  func connected() throws -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(socket.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0, "nobody listens on \(socket)")
    return descriptor
  }
}
