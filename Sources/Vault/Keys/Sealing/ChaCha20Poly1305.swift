package import SecureMemory

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
