package import KeySchemes

/// What is done with a private key inside the vault.
package enum KeyUse: Sendable {
  /// Gives the signature.
  case sign([UInt8], SignatureScheme)
  /// Gives the plaintext.
  case decrypt([UInt8], EncryptionScheme)
  /// Gives the secret agreed with the public key, in its external representation. `size` and `sharedInfo` count where the scheme derives a key.
  case exchange(with: [UInt8], ExchangeScheme, size: Int, sharedInfo: [UInt8])
  /// Gives the key's external representation; refused where the access control says `privateKeyUsage`.
  case export
}
