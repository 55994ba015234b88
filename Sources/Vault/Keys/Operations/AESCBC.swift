internal import COpenSSL
package import Primitives

/// AES-128 in CBC mode with the padding of PKCS #7, which the Secret Service API prescribes. It does not detect
/// changes: use ``AEAD`` for everything else.
package enum AESCBC {
  /// The length of a key, of an initialization vector and of a block, in bytes.
  package static let count = 16

  /// Encrypts. An initialization vector must never be used twice with a key.
  package static func encrypt(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, iv: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    try run(plaintext, key, iv, encrypts: true)
  }

  /// Decrypts.
  ///
  /// - Throws: `authenticationFailed` for anything but whole blocks, and for wrong padding, which a wrong key usually
  ///   causes.
  package static func decrypt(
    _ ciphertext: borrowing SecretBytes, key: borrowing SecretBytes, iv: borrowing SecretBytes
  ) throws(KeysError) -> SecretBytes {
    try run(ciphertext, key, iv.withUnsafeBytes { Array($0) }, encrypts: false)
  }

  private static func run(
    _ input: borrowing SecretBytes, _ key: borrowing SecretBytes, _ iv: [UInt8], encrypts: Bool
  ) throws(KeysError) -> SecretBytes {
    guard key.count == count, iv.count == count else { throw .badParameters("AES-128-CBC takes 16 bytes each") }
    let cipher = try Algorithms.aes128CBC.get()
    // Returns a context owned by the caller (transfer full). libcrypto wipes the key schedule when it frees it.
    guard let context = EVP_CIPHER_CTX_new() else { throw .drainLibrary("AES-128-CBC") }
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
            EVP_CipherUpdate(
              context, start, &body, input.bindMemory(to: UInt8.self).baseAddress, Int32(input.count)) == 1,
            EVP_CipherFinal_ex(context, start + Int(body), &end) == 1
          else { return nil }
          return Int(body + end)
        }
      }
    }
    guard let written else {
      let error = KeysError.drainLibrary("AES-128-CBC")
      throw encrypts ? error : .authenticationFailed
    }
    output.resize(to: written)
    return output
  }
}

/// AES-256 in CBC mode without padding, which the PIN/UV auth protocols of CTAP2 prescribe. It does not detect changes:
/// use ``AEAD`` for everything else.
package enum AES256CBC {
  /// The length of a key, in bytes.
  package static let keyCount = 32
  /// The length of an initialization vector and of a block, in bytes.
  package static let blockCount = 16

  /// Encrypts whole blocks.
  package static func encrypt(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, iv: [UInt8]
  ) throws(KeysError) -> [UInt8] {
    try run(plaintext, key, iv, encrypts: true).withUnsafeBytes { Array($0) }
  }

  /// Decrypts whole blocks.
  package static func decrypt(
    _ ciphertext: [UInt8], key: borrowing SecretBytes, iv: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    let input = SecretBytes(copying: ciphertext.span)
    return try run(input, key, iv, encrypts: false)
  }

  private static func run(
    _ input: borrowing SecretBytes, _ key: borrowing SecretBytes, _ iv: [UInt8], encrypts: Bool
  ) throws(KeysError) -> SecretBytes {
    guard key.count == keyCount, iv.count == blockCount, input.count % blockCount == 0, !input.isEmpty else {
      throw .badParameters("AES-256-CBC takes a key of 32 bytes and whole blocks")
    }
    let cipher = try Algorithms.aes256CBC.get()
    // Returns a context owned by the caller (transfer full). libcrypto wipes the key schedule when it frees it.
    guard let context = EVP_CIPHER_CTX_new() else { throw .drainLibrary("AES-256-CBC") }
    defer { EVP_CIPHER_CTX_free(context) }
    var output = SecretBytes(count: input.count)
    let done = key.withUnsafeBytes { key in
      input.withUnsafeBytes { input in
        output.withUnsafeMutableBytes { output in
          var count: Int32 = 0
          // Every call borrows its pointers. Without padding the output is as long as the input.
          return EVP_CipherInit_ex2(
            context, cipher, key.bindMemory(to: UInt8.self).baseAddress, iv, encrypts ? 1 : 0, nil) == 1
            && EVP_CIPHER_CTX_set_padding(context, 0) == 1
            && EVP_CipherUpdate(
              context, output.bindMemory(to: UInt8.self).baseAddress, &count,
              input.bindMemory(to: UInt8.self).baseAddress, Int32(input.count)) == 1
            && Int(count) == input.count
        }
      }
    }
    guard done else { throw .drainLibrary("AES-256-CBC") }
    return output
  }
}
