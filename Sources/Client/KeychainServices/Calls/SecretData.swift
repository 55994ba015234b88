internal import Foundation
internal import SecureMemory

// Secrets as Apple's calls take and give them, in memory that nobody wipes.

extension SecretBytes {
  /// Copies the bytes of a client's data.
  init(_ data: Data) {
    self.init(count: data.count)
    // Both borrowed for the call.
    withUnsafeMutableBytes { room in data.withUnsafeBytes { room.copyMemory(from: $0) } }
  }

  /// A copy for a client.
  borrowing func data() -> NSData {
    // Copies the borrowed bytes.
    withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) }
  }
}
