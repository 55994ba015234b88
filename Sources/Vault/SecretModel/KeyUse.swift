package import KeySchemes

/// An operation with a private key inside the vault.
package enum KeyUse: Sendable {
  /// Returns the signature.
  case sign([UInt8], SignatureScheme)
  /// Returns the plaintext.
  case decrypt([UInt8], EncryptionScheme)
  /// Returns the secret agreed with a public key, given in its external representation. `size` and `sharedInfo` are
  /// used by schemes that derive a key.
  case exchange(with: [UInt8], ExchangeScheme, size: Int, sharedInfo: [UInt8])
  /// Returns the key's external representation, or a ``MovingPasskey`` of a passkey. Refused for an access control with
  /// `privateKeyUsage`.
  case export
}
