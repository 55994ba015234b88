// Authenticated encryption with symmetric keys.

internal import COpenSSL
package import Primitives

/// Ciphers that append a tag of 16 bytes to the ciphertext. ``AEAD``, ``ChaCha20Poly1305`` and encryption to a public key
/// use them.
enum TaggedCipher: String {
  /// NIST SP 800-38D, with a key of 16 or 32 bytes.
  case aesGCM = "AES-GCM"
  /// RFC 8439, with a key of 32 bytes and a nonce of 12.
  case chaCha20Poly1305 = "ChaCha20-Poly1305"

  static let tagCount = 16

  /// The largest input. libcrypto's lengths are of type `int`; nothing that Whorl seals comes near this limit.
  private static let limit = 1 << 30

  /// Writes ciphertext ‖ tag to `output`, from `start` to its end. A nonce must never be used twice with a key.
  func seal(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, nonce: [UInt8], aad: [UInt8],
    into output: inout [UInt8], at start: Int
  ) throws(KeysError) {
    precondition(output.count - start == plaintext.count + Self.tagCount, "ciphertext and tag fill the output")
    let use = try Use(of: self, keyCount: key.count, plaintextCount: plaintext.count, aadCount: aad.count)
    let done = key.withUnsafeBytes { key in
      plaintext.withUnsafeBytes { plaintext in
        aad.withUnsafeBytes { aad in
          nonce.withUnsafeBytes { nonce in
            output.withUnsafeMutableBytes {
              let target = UnsafeMutableRawBufferPointer(rebasing: $0[start...])
              return use.encrypt(plaintext, key: key, nonce: nonce, aad: aad, into: target)
            }
          }
        }
      }
    }
    guard done else { throw .drainLibrary(rawValue) }
  }

  /// Decrypts ciphertext ‖ tag. Fails unless key, nonce and additional data are the ones it was sealed with.
  func open(
    _ box: ArraySlice<UInt8>, key: borrowing SecretBytes, nonce: [UInt8], aad: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    let count = box.count - Self.tagCount
    guard count >= 0 else { throw .authenticationFailed }
    let use = try Use(of: self, keyCount: key.count, plaintextCount: count, aadCount: aad.count)
    var plaintext = SecretBytes(count: count)
    let result = key.withUnsafeBytes { key in
      box.withUnsafeBytes { box in
        aad.withUnsafeBytes { aad in
          nonce.withUnsafeBytes { nonce in
            plaintext.withUnsafeMutableBytes { use.decrypt(box, key: key, nonce: nonce, aad: aad, into: $0) }
          }
        }
      }
    }
    switch result {
    case .done: return plaintext
    // Unless the tag is valid, no plaintext is returned.
    case .forged:
      _ = KeysError.drainLibrary(rawValue)
      throw .authenticationFailed
    case .failed: throw .drainLibrary(rawValue)
    }
  }

  private enum Decryption { case done, forged, failed }

  /// One operation of the cipher. libcrypto wipes the key schedule when it frees the context.
  private struct Use: ~Copyable {
    private let context: OpaquePointer
    private let cipher: OpaquePointer

    init(of kind: TaggedCipher, keyCount: Int, plaintextCount: Int, aadCount: Int) throws(KeysError) {
      guard plaintextCount <= limit, aadCount <= limit else { throw .badParameters("more than 1 GiB in one box") }
      let cipher =
        switch (kind, keyCount) {
        case (.aesGCM, 16): try Algorithms.aes128GCM.get()
        case (.aesGCM, 32): try Algorithms.aes256GCM.get()
        case (.chaCha20Poly1305, 32): try Algorithms.chaCha20Poly1305.get()
        default: throw KeysError.badParameters("\(kind.rawValue) has no keys of \(keyCount) bytes")
        }
      // Returns a context owned by the caller (transfer full).
      guard let context = EVP_CIPHER_CTX_new() else { throw .drainLibrary(kind.rawValue) }
      self.context = context
      self.cipher = cipher
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Every call borrows its pointers. Empty inputs are skipped because libcrypto gives a NULL input another meaning.
    func encrypt(
      _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
      aad: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Bool {
      guard let body = output.bindMemory(to: UInt8.self).baseAddress else { return false }
      let tag = body + plaintext.count
      var written: Int32 = 0
      // Set the length of the nonce first, because libcrypto's default is 12 bytes.
      guard EVP_EncryptInit_ex2(context, cipher, nil, nil, nil) == 1,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1,
        EVP_EncryptInit_ex2(context, nil, bytes(key), bytes(nonce), nil) == 1,
        aad.isEmpty || EVP_EncryptUpdate(context, nil, &written, bytes(aad), Int32(aad.count)) == 1,
        plaintext.isEmpty
          || EVP_EncryptUpdate(context, body, &written, bytes(plaintext), Int32(plaintext.count)) == 1,
        // With these ciphers this writes no bytes; it only completes the tag.
        EVP_EncryptFinal_ex(context, tag, &written) == 1
      else { return false }
      return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), tag) == 1
    }

    /// Every call borrows its pointers, as above. The tag is only read, although the parameter is not const.
    func decrypt(
      _ box: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
      aad: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer
    ) -> Decryption {
      guard let body = bytes(box), let output = plaintext.bindMemory(to: UInt8.self).baseAddress else { return .failed }
      let tag = UnsafeMutableRawPointer(mutating: body + plaintext.count)
      var written: Int32 = 0
      guard EVP_DecryptInit_ex2(context, cipher, nil, nil, nil) == 1,
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonce.count), nil) == 1,
        EVP_DecryptInit_ex2(context, nil, bytes(key), bytes(nonce), nil) == 1,
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

/// AES-256-GCM (NIST SP 800-38D). A box is nonce ‖ ciphertext ‖ tag: 12 random bytes, as many bytes as the plaintext,
/// and 16 bytes.
///
/// With random nonces a key may seal at most 2^32 boxes. An item key seals one box, and no other key comes near the
/// limit.
package enum AEAD {
  package static let keyCount = 32
  /// The difference in length between a box and its plaintext, in bytes.
  package static let overhead = nonceCount + TaggedCipher.tagCount

  private static let nonceCount = 12

  package static func seal(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, aad: [UInt8]
  ) throws(KeysError) -> [UInt8] {
    try seal(plaintext, key: key, nonce: Random.bytes(nonceCount), aad: aad)
  }

  /// Seals with a given nonce, which must never be used twice with a key. For published vectors and for
  /// ``seal(_:key:aad:)``.
  static func seal(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, nonce: [UInt8], aad: [UInt8]
  ) throws(KeysError) -> [UInt8] {
    guard nonce.count == nonceCount else { throw .badParameters("the nonce is not 12 bytes") }
    guard key.count == keyCount else { throw .badParameters("the key is not 32 bytes") }
    var box = [UInt8](repeating: 0, count: overhead + plaintext.count)
    try TaggedCipher.aesGCM.seal(plaintext, key: key, nonce: nonce, aad: aad, into: &box, at: nonceCount)
    box.replaceSubrange(..<nonceCount, with: nonce)
    return box
  }

  /// Decrypts a box. Fails unless key and additional data are the ones it was sealed with.
  package static func open(
    _ box: [UInt8], key: borrowing SecretBytes, aad: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    guard key.count == keyCount else { throw .badParameters("the key is not 32 bytes") }
    guard box.count >= overhead else { throw .authenticationFailed }
    return try TaggedCipher.aesGCM.open(box[nonceCount...], key: key, nonce: Array(box[..<nonceCount]), aad: aad)
  }
}

/// ChaCha20-Poly1305 (RFC 8439) without additional data, for formats of others. Whorl's own boxes are ``AEAD``'s.
package enum ChaCha20Poly1305 {
  package static let keyCount = 32
  package static let nonceCount = 12
  package static let tagCount = TaggedCipher.tagCount

  /// Encrypts: ciphertext ‖ tag. A nonce must never be used twice with a key.
  package static func seal(
    _ plaintext: borrowing SecretBytes, key: borrowing SecretBytes, nonce: [UInt8]
  ) throws(KeysError) -> [UInt8] {
    guard nonce.count == nonceCount else { throw .badParameters("the nonce is not 12 bytes") }
    var box = [UInt8](repeating: 0, count: plaintext.count + tagCount)
    try TaggedCipher.chaCha20Poly1305.seal(plaintext, key: key, nonce: nonce, aad: [], into: &box, at: 0)
    return box
  }

  /// Decrypts ciphertext ‖ tag. Fails unless key and nonce are the ones it was sealed with.
  package static func open(
    _ box: [UInt8], key: borrowing SecretBytes, nonce: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    guard nonce.count == nonceCount else { throw .badParameters("the nonce is not 12 bytes") }
    return try TaggedCipher.chaCha20Poly1305.open(box[...], key: key, nonce: nonce, aad: [])
  }
}
