internal import KeySchemes
internal import SecureMemory

/// ``EncryptionScheme/ecies(_:_:)``: encryption to a public key on a curve.
enum ECIES {
  private static let nonceCount = 16

  static func encrypt(
    _ plaintext: borrowing SecretBytes, to key: PublicKey, _ hash: HashFunction, _ nonce: EncryptionScheme.Nonce
  ) throws(KeysError) -> [UInt8] {
    try encrypt(plaintext, to: key, hash, nonce, from: PrivateKey.generate(key.algorithm))
  }

  /// Encrypts with a given ephemeral key, which must be used only once. For published vectors and for the function
  /// above.
  static func encrypt(
    _ plaintext: borrowing SecretBytes, to key: PublicKey, _ hash: HashFunction, _ nonce: EncryptionScheme.Nonce,
    from sender: borrowing PrivateKey
  ) throws(KeysError) -> [UInt8] {
    let point = sender.publicKey.external
    let material = try Material(sender, key, hash, nonce, sharedInfo: point)
    var box = point + [UInt8](repeating: 0, count: plaintext.count + TaggedCipher.tagCount)
    try TaggedCipher.aesGCM.seal(
      plaintext, key: material.key, nonce: material.nonce, aad: [], into: &box, at: point.count)
    return box
  }

  static func decrypt(
    _ box: [UInt8], with key: borrowing PrivateKey, _ hash: HashFunction, _ nonce: EncryptionScheme.Nonce
  ) throws(KeysError) -> SecretBytes {
    let pointCount = key.publicKey.external.count
    guard box.count >= pointCount + TaggedCipher.tagCount else { throw .authenticationFailed }
    let point = Array(box[..<pointCount])
    // An invalid point is reported like any other invalid ciphertext.
    guard let sender = try? PublicKey(external: point, family: .ec) else { throw .authenticationFailed }
    let material = try Material(key, sender, hash, nonce, sharedInfo: point)
    return try TaggedCipher.aesGCM.open(box[pointCount...], key: material.key, nonce: material.nonce, aad: [])
  }

  /// The key and the nonce that both sides derive.
  private struct Material: ~Copyable {
    let key: SecretBytes
    let nonce: [UInt8]

    init(
      _ ours: borrowing PrivateKey, _ theirs: PublicKey, _ hash: HashFunction, _ source: EncryptionScheme.Nonce,
      sharedInfo: [UInt8]
    ) throws(KeysError) {
      let keyCount = ours.algorithm.bitCount <= 256 ? 16 : 32
      let count = source == .derived ? keyCount + nonceCount : keyCount
      var derived = try ours.exchange(
        with: theirs, .ecdhX963(hash), requestedSize: count, sharedInfo: sharedInfo)
      nonce =
        source == .derived
        ? derived.withUnsafeBytes { Array($0[keyCount...]) } : [UInt8](repeating: 0, count: nonceCount)
      derived.resize(to: keyCount)
      key = derived
    }
  }
}
