internal import COpenSSL
package import SecureMemory

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
