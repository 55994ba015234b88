internal import Foundation
internal import SecureMemory

/// Carries a secret from a client's data into a call. `Data` cannot be wiped, so that the copy is made at once and
/// everything after it stays in locked memory.
final class SecretCarrier: Sendable {
  private let secret: SecretBytes

  init(_ data: Data) {
    var secret = SecretBytes(count: data.count)
    // Both borrowed for the call.
    secret.withUnsafeMutableBytes { room in data.withUnsafeBytes { room.copyMemory(from: $0) } }
    self.secret = secret
  }

  init(_ secret: consuming SecretBytes) { self.secret = secret }

  func copy() -> SecretBytes { secret.copy() }

  /// A copy that nobody wipes: what Apple's calls give back.
  var data: NSData {
    // Copies the borrowed bytes.
    secret.withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) }
  }

  /// Lends the secret for a call.
  func withSecret<Value: ~Copyable, Failure: Error>(
    _ body: (borrowing SecretBytes) throws(Failure) -> Value
  ) throws(Failure) -> Value { try body(secret) }
}
