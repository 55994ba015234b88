internal import Foundation
internal import SecureMemory

/// The stored form of a saved right's secret: a byte that is 1 if there is a secret, and the secret.
enum RightSecret {
  static func bytes(_ secret: Data?) -> SharedSecret {
    var bytes = SecretBytes(count: (secret?.count ?? 0) + 1)
    // Both borrowed for the call.
    bytes.withUnsafeMutableBytes { room in
      room[0] = secret == nil ? 0 : 1
      secret?.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: room[1...]).copyMemory(from: $0) }
    }
    return SharedSecret(bytes)
  }

  /// Nil if the right has no secret.
  static func data(_ kept: borrowing SecretBytes) -> Data? {
    // Copies the borrowed bytes.
    kept.withUnsafeBytes { $0.first == 1 ? Data($0.dropFirst()) : nil }
  }
}
