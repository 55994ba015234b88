package import KeySchemes
package import SecureMemory

extension PublicKey {
  /// Encrypts. Throws ``KeysError/badParameters(_:)`` if the scheme does not fit the key or the plaintext is too long
  /// for it.
  package func encrypt(
    _ plaintext: borrowing SecretBytes, _ scheme: EncryptionScheme
  ) throws(KeysError) -> [UInt8] {
    guard scheme.supports(algorithm) else { throw .badParameters("this key does not support this encryption") }
    if let limit = scheme.plaintextLimit(algorithm), plaintext.count > limit {
      throw .badParameters("the plaintext is over \(limit) bytes")
    }
    switch scheme {
    case .rsaRaw: return try RSAEncryption.encrypt(plaintext, to: self, .none)
    case .rsaPKCS1: return try RSAEncryption.encrypt(plaintext, to: self, .pkcs1)
    case .rsaOAEP(let hash): return try RSAEncryption.encrypt(plaintext, to: self, .oaep(hash))
    case .rsaOAEPAESGCM(let hash): return try WrappedKeyEncryption.encrypt(plaintext, to: self, hash)
    case .ecies(let hash, let nonce): return try ECIES.encrypt(plaintext, to: self, hash, nonce)
    }
  }
}

extension PrivateKey {
  /// Decrypts what was encrypted to this key's public key. Every problem with a ciphertext, be it the length, the
  /// padding or the tag, is the same ``KeysError/authenticationFailed``, so that an attacker does not learn the reason.
  /// (That PKCS #1 padding is wrong at all already helps an attacker. New programs should use OAEP.)
  package borrowing func decrypt(
    _ ciphertext: [UInt8], _ scheme: EncryptionScheme
  ) throws(KeysError) -> SecretBytes {
    guard scheme.supports(algorithm) else { throw .badParameters("this key does not support this encryption") }
    switch scheme {
    case .rsaRaw: return try RSAEncryption.decrypt(ciphertext[...], with: handle, algorithm, .none)
    case .rsaPKCS1: return try RSAEncryption.decrypt(ciphertext[...], with: handle, algorithm, .pkcs1)
    case .rsaOAEP(let hash): return try RSAEncryption.decrypt(ciphertext[...], with: handle, algorithm, .oaep(hash))
    case .rsaOAEPAESGCM(let hash): return try WrappedKeyEncryption.decrypt(ciphertext, with: self, hash)
    case .ecies(let hash, let nonce): return try ECIES.decrypt(ciphertext, with: self, hash, nonce)
    }
  }
}
