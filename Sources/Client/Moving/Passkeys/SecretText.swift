internal import Primitives
internal import SecretModel
internal import SecureMemory

/// A text with secrets in it, on its way into a socket.
final class SecretText {
  private let socket: Int32
  /// What is not written yet.
  private var pending = SecretBytes(count: 0)

  private static let limit = 64 << 10

  /// - Parameter socket: borrowed for as long as this exists.
  init(to socket: Int32) { self.socket = socket }

  func append(_ text: String) throws(VaultError) {
    let bytes = Array(text.utf8)
    grow(by: bytes.count) { $0.copyBytes(from: bytes) }
    if pending.count >= Self.limit { try flush() }
  }

  /// Appends the bytes in base64, in the alphabet for addresses.
  func append(base64 secret: SharedSecret) throws(VaultError) {
    grow(by: Base64URL.encodedCount(secret.bytes.count)) { target in
      secret.bytes.withUnsafeBytes { Base64URL.encode($0, into: target) }
    }
    if pending.count >= Self.limit { try flush() }
  }

  /// Writes what is not written yet.
  func flush() throws(VaultError) {
    do throws(WriteError) {
      try pending.write(to: socket)
    } catch {
      throw .inputOutput("the export: \(error)")
    }
    pending.resize(to: 0)
  }

  private func grow(by count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    let filled = pending.count
    pending.resize(to: filled + count)
    pending.withUnsafeMutableBytes { fill(UnsafeMutableRawBufferPointer(rebasing: $0[filled...])) }
  }
}
