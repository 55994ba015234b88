internal import Foundation
internal import SecureMemory

// Conversions of secrets to and from the data of Apple's calls, which is not wiped.

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
