package import SecureMemory

/// A file in age's format (age-encryption.org/v1).
package enum EncryptedFile {
  /// What opens a new file.
  package enum Recipient: Sendable {
    case passphrase(SharedSecret)
    /// The private half of this key.
    case publicKey(AgePublicKey)
  }

  /// What a file is opened with.
  package enum Opening: Sendable {
    case passphrase(SharedSecret)
    /// A private key on Curve25519, 32 bytes.
    case privateKey(SharedSecret)
  }

  /// A key pair on Curve25519.
  package struct KeyPair: Sendable {
    package let privateKey: SharedSecret
    package let publicKey: AgePublicKey

    package init(privateKey: SharedSecret, publicKey: AgePublicKey) {
      (self.privateKey, self.publicKey) = (privateKey, publicKey)
    }
  }

  /// The length of the key that encrypts the contents of one file, in bytes.
  package static let keyCount = 16
}
