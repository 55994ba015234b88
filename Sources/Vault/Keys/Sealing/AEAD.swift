package import SecureMemory

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
