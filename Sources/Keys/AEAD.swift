internal import COpenSSL
package import SecureMemory

/// AES-256-GCM (NIST SP 800-38D). A box is nonce ‖ ciphertext ‖ tag: 12 random bytes, as many as the plaintext, 16.
///
/// Random nonces bound a key to 2^32 boxes; item keys seal one, and no other key comes near.
package enum AEAD {
  package static let keyCount = 32
  /// How much longer a box is than its plaintext, in bytes.
  package static let overhead = nonceCount + tagCount

  private static let nonceCount = 12
  private static let tagCount = 16
  /// libcrypto counts in `int`; nothing sealed here comes near it either.
  private static let limit = 1 << 30

  package static func seal(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, aad: [UInt8]
  ) throws(KeysError) -> [UInt8] {
    try seal(plaintext, key: key, nonce: Random.bytes(nonceCount), aad: aad)
  }

  /// With a given nonce, which a key must never see twice: for published vectors, and for ``seal(_:key:aad:)``.
  static func seal(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, nonce: [UInt8], aad: [UInt8]
  ) throws(KeysError) -> [UInt8] {
    guard nonce.count == nonceCount else { throw .badParameters("the nonce is not 12 bytes") }
    let context = try CipherContext(key: key, plaintextCount: plaintext.count, aadCount: aad.count)
    var box = [UInt8](repeating: 0, count: overhead + plaintext.count)
    let done = key.withUnsafeBytes { key in
      plaintext.withUnsafeBytes { plaintext in
        aad.withUnsafeBytes { aad in
          box.withUnsafeMutableBytes {
            $0.copyBytes(from: nonce)
            return context.encrypt(plaintext, key: key, aad: aad, into: $0)
          }
        }
      }
    }
    guard done else { throw .drainLibrary("AES-256-GCM") }
    return box
  }

  /// The plaintext of a box, if key and additional data are those it was sealed with.
  package static func open(
    _ box: [UInt8], key: borrowing SecretBytes, aad: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    let count = box.count - overhead
    guard count >= 0 else { throw .authenticationFailed }
    let context = try CipherContext(key: key, plaintextCount: count, aadCount: aad.count)
    var plaintext = SecretBytes(count: count)
    let result = key.withUnsafeBytes { key in
      box.withUnsafeBytes { box in
        aad.withUnsafeBytes { aad in
          plaintext.withUnsafeMutableBytes { context.decrypt(box, key: key, aad: aad, into: $0) }
        }
      }
    }
    switch result {
    case .done: return plaintext
    // Nothing of the plaintext leaves before the tag is verified.
    case .forged:
      _ = KeysError.drainLibrary("AES-256-GCM")
      throw .authenticationFailed
    case .failed: throw .drainLibrary("AES-256-GCM")
    }
  }

  private enum Decryption { case done, forged, failed }

  /// One use of the cipher. libcrypto wipes the key schedule when it is freed.
  private struct CipherContext: ~Copyable {
    private let context: OpaquePointer
    private let cipher: OpaquePointer

    init(key: borrowing SecretBytes, plaintextCount: Int, aadCount: Int) throws(KeysError) {
      guard key.count == keyCount else { throw .badParameters("the key is not 32 bytes") }
      guard plaintextCount <= limit, aadCount <= limit else { throw .badParameters("more than 1 GiB in one box") }
      let cipher = try Algorithms.aes256GCM.get()
      // Returns a context owned by the caller (transfer full).
      guard let context = EVP_CIPHER_CTX_new() else { throw .drainLibrary("AES-256-GCM") }
      self.context = context
      self.cipher = cipher
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// `box` already holds the nonce. Every call borrows its pointers; an empty input is left out, because a null one
    /// means something else to libcrypto.
    func encrypt(
      _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer,
      into box: UnsafeMutableRawBufferPointer
    ) -> Bool {
      guard let box = box.bindMemory(to: UInt8.self).baseAddress else { return false }
      let body = box + nonceCount
      let tag = body + plaintext.count
      var written: Int32 = 0
      guard EVP_EncryptInit_ex2(context, cipher, bytes(key), box, nil) == 1 else { return false }
      guard aad.isEmpty || EVP_EncryptUpdate(context, nil, &written, bytes(aad), Int32(aad.count)) == 1,
        plaintext.isEmpty
          || EVP_EncryptUpdate(context, body, &written, bytes(plaintext), Int32(plaintext.count)) == 1,
        // GCM has nothing left to write here: it only completes the tag.
        EVP_EncryptFinal_ex(context, tag, &written) == 1
      else { return false }
      return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), tag) == 1
    }

    /// Every call borrows its pointers, as above; the tag is only read, though its parameter is not const.
    func decrypt(
      _ box: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer,
      into plaintext: UnsafeMutableRawBufferPointer
    ) -> Decryption {
      guard let box = bytes(box), let output = plaintext.bindMemory(to: UInt8.self).baseAddress else { return .failed }
      let body = box + nonceCount
      let tag = UnsafeMutableRawPointer(mutating: body + plaintext.count)
      var written: Int32 = 0
      guard EVP_DecryptInit_ex2(context, cipher, bytes(key), box, nil) == 1,
        aad.isEmpty || EVP_DecryptUpdate(context, nil, &written, bytes(aad), Int32(aad.count)) == 1,
        plaintext.isEmpty || EVP_DecryptUpdate(context, output, &written, body, Int32(plaintext.count)) == 1,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), tag) == 1
      else { return .failed }
      return EVP_DecryptFinal_ex(context, output + plaintext.count, &written) == 1 ? .done : .forged
    }

    private func bytes(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<UInt8>? {
      buffer.bindMemory(to: UInt8.self).baseAddress
    }
  }
}
