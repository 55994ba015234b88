internal import COpenSSL
internal import KeySchemes
internal import SecureMemory

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
