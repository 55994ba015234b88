internal import COpenSSL
package import SecureMemory

/// AES in CBC mode, for the protocols that prescribe it: AES-128 with the padding of PKCS #7 (the Secret Service API),
/// and AES-256 over whole blocks (CTAP). It does not detect changes: use ``AEAD`` for everything else.
package enum AESCBC {
  /// The length of an initialization vector, of a block and of a key of AES-128, in bytes.
  package static let count = 16

  /// Encrypts. An initialization vector must never be used twice with a key.
  package static func encrypt(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, iv: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    try run(plaintext, key, iv, padded, encrypts: true)
  }

  /// Encrypts whole blocks with AES-256, without padding.
  package static func encryptBlocks(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, iv: [UInt8]
  ) throws(KeysError) -> [UInt8] {
    try run(plaintext, key, iv, blocks, encrypts: true).withUnsafeBytes { Array($0) }
  }

  /// Decrypts whole blocks with AES-256, without padding.
  package static func decryptBlocks(
    _ ciphertext: [UInt8], key: borrowing SecretBytes, iv: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    try run(SecretBytes(copying: ciphertext.span), key, iv, blocks, encrypts: false)
  }

  /// Decrypts.
  ///
  /// - Throws: `authenticationFailed` for wrong padding, which a wrong key usually causes.
  package static func decrypt(
    _ ciphertext: borrowing SecretBytes, key: borrowing SecretBytes, iv: borrowing SecretBytes
  ) throws(KeysError) -> SecretBytes {
    guard !ciphertext.isEmpty, ciphertext.count % count == 0 else { throw .authenticationFailed }
    return try run(ciphertext, key, iv.withUnsafeBytes { Array($0) }, padded, encrypts: false)
  }

  /// A cipher with its length of a key, and whether input is padded to whole blocks.
  private struct Form {
    let cipher: Algorithms.Fetched
    let keyCount: Int
    let isPadded: Bool
  }

  private static let padded = Form(cipher: Algorithms.aes128CBC, keyCount: 16, isPadded: true)
  private static let blocks = Form(cipher: Algorithms.aes256CBC, keyCount: 32, isPadded: false)

  private static func run(
    _ input: borrowing SecretBytes, _ key: borrowing SecretBytes, _ iv: [UInt8], _ form: Form, encrypts: Bool
  ) throws(KeysError) -> SecretBytes {
    guard key.count == form.keyCount, iv.count == count else {
      throw .badParameters("AES in CBC mode takes \(form.keyCount) bytes of key, and 16 for its start")
    }
    guard form.isPadded || input.count % count == 0 else { throw .badParameters("these are no whole blocks of AES") }
    let cipher = try form.cipher.get()
    // Returns a context owned by the caller (transfer full). libcrypto wipes the key schedule when it frees it.
    guard let context = EVP_CIPHER_CTX_new() else { throw .drainLibrary("AES-CBC") }
    defer { EVP_CIPHER_CTX_free(context) }
    // At most one block more than the input.
    var output = SecretBytes(count: input.count + count)
    let written: Int? = key.withUnsafeBytes { key in
      input.withUnsafeBytes { input in
        output.withUnsafeMutableBytes { output in
          let bytes = output.bindMemory(to: UInt8.self)
          var (body, end): (Int32, Int32) = (0, 0)
          // Every call borrows its pointers. The output has room for what they write.
          guard let start = bytes.baseAddress,
            EVP_CipherInit_ex2(
              context, cipher, key.bindMemory(to: UInt8.self).baseAddress, iv, encrypts ? 1 : 0, nil) == 1,
            EVP_CIPHER_CTX_set_padding(context, form.isPadded ? 1 : 0) == 1,
            EVP_CipherUpdate(
              context, start, &body, input.bindMemory(to: UInt8.self).baseAddress, Int32(input.count)) == 1,
            EVP_CipherFinal_ex(context, start + Int(body), &end) == 1
          else { return nil }
          return Int(body + end)
        }
      }
    }
    guard let written else {
      let error = KeysError.drainLibrary("AES-CBC")
      throw encrypts ? error : .authenticationFailed
    }
    output.resize(to: written)
    return output
  }
}
