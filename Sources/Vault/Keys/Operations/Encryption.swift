// Encryption to a public key.

internal import COpenSSL
package import Primitives

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
    case .ageX25519: return try AgeWrapping.encrypt(plaintext, to: self)
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
    case .ageX25519: return try AgeWrapping.decrypt(ciphertext, with: self)
    }
  }
}

/// RSA encryption of a single block.
enum RSAEncryption {
  enum Padding { case none, pkcs1, oaep(HashFunction) }

  /// Encrypts. The caller has checked that `plaintext` fits with the padding.
  static func encrypt(
    _ plaintext: borrowing SecretBytes, to key: PublicKey, _ padding: Padding
  ) throws(KeysError) -> [UInt8] {
    let blockCount = key.algorithm.blockCount
    var input = SecretBytes(count: blockCount)
    let start = if case .none = padding { blockCount - plaintext.count } else { 0 }
    plaintext.withUnsafeBytes { plaintext in
      input.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyMemory(from: plaintext) }
    }
    let inputCount = start + plaintext.count
    let context = try key.handle.context()
    guard EVP_PKEY_encrypt_init(context.pointer) == 1, try set(padding, context) else {
      throw .drainLibrary("RSA encryption")
    }
    var ciphertext = [UInt8](repeating: 0, count: blockCount)
    var written = blockCount
    let result = input.withUnsafeBytes {
      // Borrows the input and writes at most `written` bytes.
      EVP_PKEY_encrypt(
        context.pointer, &ciphertext, &written, $0.bindMemory(to: UInt8.self).baseAddress, inputCount)
    }
    guard result == 1, written == blockCount else {
      let error = KeysError.drainLibrary("RSA encryption")
      guard case .none = padding else { throw error }
      // The caller cannot check this: only libcrypto compares the plaintext with the modulus.
      throw .badParameters("the number is not below the modulus")
    }
    return ciphertext
  }

  /// Decrypts. Every failure throws the same error.
  static func decrypt(
    _ ciphertext: ArraySlice<UInt8>, with key: KeyHandle, _ algorithm: KeyAlgorithm, _ padding: Padding
  ) throws(KeysError) -> SecretBytes {
    guard ciphertext.count == algorithm.blockCount else { throw .authenticationFailed }
    let context = try key.context()
    guard EVP_PKEY_decrypt_init(context.pointer) == 1, try set(padding, context) else {
      throw .drainLibrary("RSA decryption")
    }
    var plaintext = SecretBytes(count: algorithm.blockCount)
    var written = algorithm.blockCount
    let result = ciphertext.withUnsafeBufferPointer { ciphertext in
      plaintext.withUnsafeMutableBytes {
        // Borrows the ciphertext and writes at most `written` bytes.
        EVP_PKEY_decrypt(
          context.pointer, $0.bindMemory(to: UInt8.self).baseAddress, &written, ciphertext.baseAddress,
          ciphertext.count)
      }
    }
    // libcrypto's errors reveal which check failed, so they are discarded.
    ERR_clear_error()
    guard result == 1, written <= plaintext.count else { throw .authenticationFailed }
    plaintext.resize(to: written)
    return plaintext
  }

  private static func set(_ padding: Padding, _ operation: borrowing OperationContext) throws(KeysError) -> Bool {
    let context = operation.pointer
    switch padding {
    case .none: return EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
    case .pkcs1: return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
    case .oaep(let hash):
      let algorithm = try hash.fetched.get()
      return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1
        // Both calls borrow the algorithm and use only its name.
        && EVP_PKEY_CTX_set_rsa_oaep_md(context, algorithm) == 1
        && EVP_PKEY_CTX_set_rsa_mgf1_md(context, algorithm) == 1
    }
  }
}

/// ``EncryptionScheme/ecies(_:_:)``: encryption to a public key on a curve.
enum ECIES {
  private static let nonceCount = 16

  static func encrypt(
    _ plaintext: borrowing SecretBytes, to key: PublicKey, _ hash: HashFunction, _ nonce: EncryptionScheme.Nonce
  ) throws(KeysError) -> [UInt8] {
    try encrypt(plaintext, to: key, hash, nonce, from: PrivateKey.generate(key.algorithm))
  }

  /// Encrypts with a given ephemeral key, which must be used only once. For published vectors and for the function
  /// above.
  static func encrypt(
    _ plaintext: borrowing SecretBytes, to key: PublicKey, _ hash: HashFunction, _ nonce: EncryptionScheme.Nonce,
    from sender: borrowing PrivateKey
  ) throws(KeysError) -> [UInt8] {
    let point = sender.publicKey.external
    let material = try Material(sender, key, hash, nonce, sharedInfo: point)
    var box = point + [UInt8](repeating: 0, count: plaintext.count + TaggedCipher.tagCount)
    try TaggedCipher.aesGCM.seal(
      plaintext, key: material.key, nonce: material.nonce, aad: [], into: &box, at: point.count)
    return box
  }

  static func decrypt(
    _ box: [UInt8], with key: borrowing PrivateKey, _ hash: HashFunction, _ nonce: EncryptionScheme.Nonce
  ) throws(KeysError) -> SecretBytes {
    let pointCount = key.publicKey.external.count
    guard box.count >= pointCount + TaggedCipher.tagCount else { throw .authenticationFailed }
    let point = Array(box[..<pointCount])
    // An invalid point is reported like any other invalid ciphertext.
    guard let sender = try? PublicKey(external: point, family: .ec) else { throw .authenticationFailed }
    let material = try Material(key, sender, hash, nonce, sharedInfo: point)
    return try TaggedCipher.aesGCM.open(box[pointCount...], key: material.key, nonce: material.nonce, aad: [])
  }

  /// The key and the nonce that both sides derive.
  private struct Material: ~Copyable {
    let key: SecretBytes
    let nonce: [UInt8]

    init(
      _ ours: borrowing PrivateKey, _ theirs: PublicKey, _ hash: HashFunction, _ source: EncryptionScheme.Nonce,
      sharedInfo: [UInt8]
    ) throws(KeysError) {
      let keyCount = ours.algorithm.bitCount <= 256 ? 16 : 32
      let count = source == .derived ? keyCount + nonceCount : keyCount
      var derived = try ours.exchange(
        with: theirs, .ecdhX963(hash), requestedSize: count, sharedInfo: sharedInfo)
      nonce =
        source == .derived
        ? derived.withUnsafeBytes { Array($0[keyCount...]) } : [UInt8](repeating: 0, count: nonceCount)
      derived.resize(to: keyCount)
      key = derived
    }
  }
}

/// ``EncryptionScheme/rsaOAEPAESGCM(_:)``, which encrypts plaintexts of any length to an RSA key.
enum WrappedKeyEncryption {
  /// The AES key is used only once, so a constant nonce is safe.
  private static let nonce = [UInt8](repeating: 0, count: 16)

  static func encrypt(
    _ plaintext: borrowing SecretBytes, to key: PublicKey, _ hash: HashFunction
  ) throws(KeysError) -> [UInt8] {
    let sessionSecret = try Random.key(keyCount(key.algorithm))
    var box = try RSAEncryption.encrypt(sessionSecret, to: key, .oaep(hash))
    let start = box.count
    box += [UInt8](repeating: 0, count: plaintext.count + TaggedCipher.tagCount)
    try TaggedCipher.aesGCM.seal(plaintext, key: sessionSecret, nonce: nonce, aad: key.external, into: &box, at: start)
    return box
  }

  static func decrypt(
    _ box: [UInt8], with key: borrowing PrivateKey, _ hash: HashFunction
  ) throws(KeysError) -> SecretBytes {
    let wrappedCount = key.algorithm.blockCount
    guard box.count >= wrappedCount + TaggedCipher.tagCount else { throw .authenticationFailed }
    let sessionSecret = try RSAEncryption.decrypt(
      box[..<wrappedCount], with: key.handle, key.algorithm, .oaep(hash))
    guard sessionSecret.count == keyCount(key.algorithm) else { throw .authenticationFailed }
    return try TaggedCipher.aesGCM.open(
      box[wrappedCount...], key: sessionSecret, nonce: nonce, aad: key.publicKey.external)
  }

  private static func keyCount(_ algorithm: KeyAlgorithm) -> Int { algorithm.bitCount >= 4096 ? 32 : 16 }
}
