package import KeySchemes
package import SecureMemory

extension PublicKey {
  /// Encrypts, where the scheme is one for this key and takes a plaintext so long; else
  /// ``KeysError/badParameters(_:)``.
  package func encrypt(
    _ plaintext: borrowing SecretBytes, _ scheme: EncryptionScheme
  ) throws(KeysError) -> [UInt8] {
    guard scheme.supports(algorithm) else { throw .badParameters("this key does not encrypt like that") }
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
  /// The plaintext of what was encrypted to the public key of this one. Whatever is wrong with a ciphertext, its length,
  /// its padding or its tag, is ``KeysError/authenticationFailed``: why is what an attacker would like to hear. (That
  /// PKCS #1 padding was wrong at all is a good hint already; new programs use OAEP.)
  package borrowing func decrypt(
    _ ciphertext: [UInt8], _ scheme: EncryptionScheme
  ) throws(KeysError) -> SecretBytes {
    guard scheme.supports(algorithm) else { throw .badParameters("this key does not decrypt like that") }
    switch scheme {
    case .rsaRaw: return try RSAEncryption.decrypt(ciphertext[...], with: handle, algorithm, .none)
    case .rsaPKCS1: return try RSAEncryption.decrypt(ciphertext[...], with: handle, algorithm, .pkcs1)
    case .rsaOAEP(let hash): return try RSAEncryption.decrypt(ciphertext[...], with: handle, algorithm, .oaep(hash))
    case .rsaOAEPAESGCM(let hash): return try WrappedKeyEncryption.decrypt(ciphertext, with: self, hash)
    case .ecies(let hash, let nonce): return try ECIES.decrypt(ciphertext, with: self, hash, nonce)
    }
  }
}
