internal import Primitives

/// ``EncryptionScheme/ageX25519``: how age encrypts the key of a file to a public key.
enum AgeWrapping {
  private static let label = Array("age-encryption.org/v1/X25519".utf8)
  /// A constant nonce is safe: each wrapping key encrypts only one file key.
  private static let nonce = [UInt8](repeating: 0, count: ChaCha20Poly1305.nonceCount)
  private static let fileKeyCount = 16
  private static let boxCount = X25519.count + fileKeyCount + ChaCha20Poly1305.tagCount

  /// - Throws: ``KeysError/badParameters(_:)`` for a key of another length, and a public key of small order.
  static func encrypt(_ fileKey: borrowing SecretBytes, to key: PublicKey) throws(KeysError) -> [UInt8] {
    guard fileKey.count == fileKeyCount else { throw .badParameters("the key of a file has 16 bytes") }
    let sender = try PrivateKey.generate(.x25519)
    let share = sender.publicKey.external
    let wrapping = try wrappingKey(sender.handle, key.handle, share: share, recipient: key.external)
    return share + (try ChaCha20Poly1305.seal(fileKey, key: wrapping, nonce: nonce))
  }

  /// - Throws: ``KeysError/badParameters(_:)`` for an ephemeral key of small order, which would give the same wrapping key
  ///   with every private key; ``KeysError/authenticationFailed`` for everything else.
  static func decrypt(_ box: [UInt8], with key: borrowing PrivateKey) throws(KeysError) -> SecretBytes {
    guard box.count == boxCount else { throw .authenticationFailed }
    let share = Array(box[..<X25519.count])
    let sender = try PublicKey(external: share, family: .x25519)
    let wrapping = try wrappingKey(key.handle, sender.handle, share: share, recipient: key.publicKey.external)
    return try ChaCha20Poly1305.open(Array(box[X25519.count...]), key: wrapping, nonce: nonce)
  }

  private static func wrappingKey(
    _ ours: KeyHandle, _ theirs: KeyHandle, share: [UInt8], recipient: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    try KDF.hkdf(key: X25519.sharedSecret(ours, with: theirs), salt: share + recipient, info: label)
  }
}
