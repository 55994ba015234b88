package import SecureMemory

/// The request of the extension `hmac-secret` (CTAP 2.1, 12.5): the vault computes one or two outputs and encrypts them
/// to the platform, since the authenticator data that it signs contains them.
package struct PasskeySecretRequest: Sendable {
  /// The PIN/UV auth protocols of CTAP 2.1.
  package enum Encryption: Int, Sendable, Hashable {
    /// AES-256-CBC with a zero IV.
    case protocolOne = 1
    /// AES-256-CBC with a random IV before the ciphertext.
    case protocolTwo = 2
  }

  package var encryption: Encryption
  /// The key for AES that was agreed with the platform, of 32 bytes.
  package var key: SharedSecret
  /// One salt of 32 bytes, or two.
  package var salts: SharedSecret

  package init(encryption: Encryption, key: SharedSecret, salts: SharedSecret) {
    self.encryption = encryption
    self.key = key
    self.salts = salts
  }
}
