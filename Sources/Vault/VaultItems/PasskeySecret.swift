import KeySchemes
import Keys
import SecureMemory
import VaultStore

/// The secret of a passkey's item: the private key, and the key of its extension `hmac-secret`.
///
/// The bytes are a version, 32 bytes of the extension's key, and the private key in its external representation.
final class PasskeySecret {
  /// CTAP's CredRandom with user verification.
  private let secretKey: SharedSecret
  let privateKey: PrivateKey

  private static let version: UInt8 = 1
  private static let headCount = 1 + 32

  /// Makes a new key.
  static func make(_ algorithm: KeyAlgorithm) throws(KeysError) -> PasskeySecret {
    PasskeySecret(secretKey: SharedSecret(try Random.key()), privateKey: try PrivateKey.generate(algorithm))
  }

  private init(secretKey: SharedSecret, privateKey: consuming PrivateKey) {
    self.secretKey = secretKey
    self.privateKey = privateKey
  }

  /// Reads the bytes of an item that is authenticated already.
  static func stored(_ bytes: borrowing SecretBytes, _ algorithm: KeyAlgorithm) throws(KeysError) -> PasskeySecret {
    let (head, key) = try parts(bytes)
    let privateKey = try PrivateKey(stored: key.bytes, family: algorithm.family)
    try require(privateKey.algorithm == algorithm)
    return PasskeySecret(secretKey: head, privateKey: privateKey)
  }

  /// Reads an imported passkey, and checks its key.
  ///
  /// - Parameter hasSecret: whether it has the extension `hmac-secret`. One without it gets a random key.
  static func brought(
    _ bytes: borrowing SecretBytes, _ algorithm: KeyAlgorithm, hasSecret: Bool
  ) throws(KeysError) -> PasskeySecret {
    guard let moving = MovingPasskey(bytes) else { throw .badParameters("this is not the secret of a passkey") }
    let privateKey = try PrivateKey(pkcs8: moving.key.bytes, algorithm)
    return PasskeySecret(
      secretKey: hasSecret ? moving.secretKey : SharedSecret(try Random.key()), privateKey: privateKey)
  }

  /// The passkey for another store.
  func moving() throws(KeysError) -> SecretBytes {
    MovingPasskey(secretKey: secretKey, key: SharedSecret(try privateKey.pkcs8())).bytes
  }

  private static func require(_ isRight: Bool) throws(KeysError) {
    guard isRight else { throw .badParameters("the key is of another algorithm") }
  }

  func bytes() throws(KeysError) -> SecretBytes {
    let key = try privateKey.external()
    var bytes = SecretBytes(count: Self.headCount + key.count)
    bytes.withUnsafeMutableBytes { target in
      target[0] = Self.version
      secretKey.bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: $0) }
      key.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[Self.headCount...]).copyMemory(from: $0) }
    }
    return bytes
  }

  private static func parts(_ bytes: borrowing SecretBytes) throws(KeysError) -> (SharedSecret, SharedSecret) {
    let parts: (SharedSecret, SharedSecret)? = bytes.withUnsafeBytes { bytes in
      guard bytes.count > headCount, bytes[0] == version else { return nil }
      return (
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[1..<headCount]))),
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[headCount...])))
      )
    }
    guard let parts else { throw .badParameters("this is not the secret of a passkey") }
    return parts
  }
}

extension PasskeySecret {
  /// The outputs of `hmac-secret` for the salts of a request, encrypted to the platform (CTAP 2.1, 12.5 and 6.5).
  func outputs(_ request: PasskeySecretRequest) throws(KeysError) -> [UInt8] {
    let outputs = try outputs(of: request.salts)
    let zeros = [UInt8](repeating: 0, count: AES256CBC.blockCount)
    let iv = request.encryption == .protocolOne ? zeros : try Random.bytes(AES256CBC.blockCount)
    let encrypted = try AES256CBC.encrypt(outputs, key: request.key.bytes, iv: iv)
    return request.encryption == .protocolOne ? encrypted : iv + encrypted
  }

  private func outputs(of salts: SharedSecret) throws(KeysError) -> SecretBytes {
    let count = salts.bytes.count
    guard count == 32 || count == 64 else { throw .badParameters("hmac-secret takes one or two salts of 32 bytes") }
    let salts = salts.bytes.withUnsafeBytes { Array($0) }
    var outputs = SecretBytes(count: count)
    outputs.withUnsafeMutableBytes { outputs in
      for start in stride(from: 0, to: count, by: MAC.count) {
        let target = UnsafeMutableRawBufferPointer(rebasing: outputs[start..<start + MAC.count])
        MAC.hmacSHA256(key: secretKey.bytes, Array(salts[start..<start + MAC.count]), into: target)
      }
    }
    return outputs
  }
}
