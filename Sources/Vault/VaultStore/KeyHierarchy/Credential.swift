import Keys
package import SecureMemory

/// A secret that systemd gives the service as a credential. The keys of stores' device slots and passcodes' slots are
/// derived from it (docs/decisions/0100).
package struct Credential: Sendable {
  /// How many bytes the secret may have: at least as many as a key.
  package static let lengths = 32...1_024

  /// Identifies the credential in the slots of stores, without revealing anything about the secret.
  let id: [UInt8]
  /// Whether systemd decrypted it with a key of the machine's TPM. If not, or if that is not known, its key is taken to
  /// lie on the same disk.
  let isSealedByTPM: Bool
  /// The key of device slots.
  let deviceKey: SharedSecret
  /// What the keys of passcodes' slots are derived from, beside the passcode.
  let passcodePart: SharedSecret

  /// - Throws: `configuration` for a secret of another length.
  package init(_ secret: borrowing SecretBytes, isSealedByTPM: Bool) throws(VaultError) {
    guard Self.lengths.contains(secret.count) else {
      throw .configuration(
        "it does not have \(Self.lengths.lowerBound) to \(Self.lengths.upperBound) bytes")
    }
    self.isSealedByTPM = isSealedByTPM
    id = Array(MAC.hmacSHA256(key: secret, Array("whorl credential".utf8)).prefix(16))
    do {
      deviceKey = SharedSecret(try KDF.hkdf(key: secret, info: Array("whorl credential for device slots".utf8)))
      passcodePart = SharedSecret(try KDF.hkdf(key: secret, info: Array("whorl credential for passcodes".utf8)))
    } catch {
      throw VaultError(cause: error)
    }
  }
}
