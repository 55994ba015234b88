internal import Primitives
internal import SecretModel
internal import SecureMemory

/// Writes a text with secrets into a socket.
final class SecretText {
  private let socket: Int32
  /// Bytes that are not written yet.
  private var pending = SecretBytes(count: 0)

  private static let limit = 64 << 10

  /// - Parameter socket: borrowed for as long as this exists.
  init(to socket: Int32) { self.socket = socket }

  func append(_ text: String) throws(VaultError) {
    let bytes = Array(text.utf8)
    grow(by: bytes.count) { $0.copyBytes(from: bytes) }
    if pending.count >= Self.limit { try flush() }
  }

  /// Appends the bytes in URL-safe base64.
  func append(base64 secret: SharedSecret) throws(VaultError) {
    grow(by: Base64URL.encodedCount(secret.bytes.count)) { target in
      secret.bytes.withUnsafeBytes { Base64URL.encode($0, into: target) }
    }
    if pending.count >= Self.limit { try flush() }
  }

  /// Writes the pending bytes.
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
