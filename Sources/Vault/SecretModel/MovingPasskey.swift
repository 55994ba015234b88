package import SecureMemory

/// The secret of a passkey on its way from one store to another: the result of ``KeyUse/export`` of a passkey, and what
/// ``KeySource/passkey(_:)`` has.
///
/// The bytes are a version, the key of the extension `hmac-secret` (32 bytes) and the private key in PKCS #8.
package struct MovingPasskey: Sendable {
  /// CTAP's CredRandom with user verification. Not used by a passkey without the extension `hmac-secret`.
  package let secretKey: SharedSecret
  /// The private key in PKCS #8.
  package let key: SharedSecret

  /// The length of ``secretKey``.
  package static let secretKeyCount = 32
  private static let version: UInt8 = 2
  private static let headCount = 1 + secretKeyCount

  /// - Parameter secretKey: of 32 bytes.
  package init(secretKey: SharedSecret, key: SharedSecret) { (self.secretKey, self.key) = (secretKey, key) }

  /// Nil for other bytes. The key itself is not checked.
  package init?(_ bytes: borrowing SecretBytes) {
    guard bytes.count > Self.headCount else { return nil }
    let parts = unsafe bytes.withUnsafeBytes { bytes -> (SharedSecret, SharedSecret)? in
      guard unsafe bytes[0] == Self.version else { return nil }
      return unsafe (
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[1..<Self.headCount]))),
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[Self.headCount...])))
      )
    }
    guard let parts else { return nil }
    (secretKey, key) = parts
  }

  package var bytes: SecretBytes {
    var bytes = SecretBytes(count: Self.headCount + key.bytes.count)
    unsafe bytes.withUnsafeMutableBytes { target in
      unsafe target[0] = Self.version
      unsafe secretKey.bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: source)
      }
      unsafe key.bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[Self.headCount...]).copyMemory(from: source)
      }
    }
    return bytes
  }
}
