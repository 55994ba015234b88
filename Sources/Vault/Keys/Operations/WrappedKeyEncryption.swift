internal import KeySchemes
internal import SecureMemory

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
