import CBOR
import Keys
import Primitives
import SecretModel
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

/// The authenticator data of WebAuthn (Level 3, 6.1), which the vault builds and signs. Its flags state what the vault
/// itself has verified, independent of the program: nothing is signed without a person.
struct AuthenticatorData {
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let userPresent = Self(rawValue: 1 << 0)
    static let userVerified = Self(rawValue: 1 << 2)
    static let backupEligible = Self(rawValue: 1 << 3)
    static let attestedCredential = Self(rawValue: 1 << 6)
    static let extensions = Self(rawValue: 1 << 7)
  }

  private let relyingParty: String
  // Passkeys can be exported and restored, so every one is eligible for backup, and its counter stays 0. The flag that
  // it is backed up is not set: the vault does not know what happens to a copy.
  private var flags: Flags = [.userPresent, .userVerified, .backupEligible]
  private var attested: [UInt8] = []
  private var extensions: [CBORValue: CBORValue] = [:]

  /// - Precondition: a finger or the passcode was given for this ceremony.
  init(for relyingParty: String) { self.relyingParty = relyingParty }

  /// Adds the credential that was made.
  mutating func attest(_ credentialID: [UInt8], _ key: COSEKey) {
    flags.insert(.attestedCredential)
    attested =
      Passkey.model + [UInt8(credentialID.count >> 8), UInt8(credentialID.count & 0xFF)] + credentialID
      + key.value.encoded
  }

  /// Adds the output of an extension.
  mutating func add(_ name: String, _ value: CBORValue) {
    flags.insert(.extensions)
    extensions[.text(name)] = value
  }

  var bytes: [UInt8] {
    let counter: [UInt8] = [0, 0, 0, 0]
    let map = extensions.isEmpty ? [] : CBORValue.map(extensions).encoded
    return Digest.sha256(Array(relyingParty.utf8)) + [flags.rawValue] + counter + attested + map
  }
}
