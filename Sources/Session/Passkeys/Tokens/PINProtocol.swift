internal import CBOR
internal import Keys
internal import Primitives

/// The PIN/UV auth protocols of CTAP 2.1 (6.5.6 and 6.5.7): how a platform and an authenticator agree on keys, and
/// encrypt and authenticate with them.
enum PINProtocol: Int, Sendable, Hashable, CaseIterable {
  case one = 1
  case two = 2

  /// The length of the MACs that are sent, in bytes.
  private var macCount: Int { self == .one ? 16 : MAC.count }

  /// Whether `mac` is the MAC of a message. Compares in constant time.
  func verifies(_ mac: [UInt8], key: borrowing SecretBytes, _ message: [UInt8]) -> Bool {
    MAC.areEqual(mac, Array(MAC.hmacSHA256(key: key, message).prefix(macCount)))
  }

  /// Derives the MAC key and the AES key from the shared point.
  func keys(of point: borrowing SecretBytes) throws(KeysError) -> PINKeys {
    switch self {
    case .one:
      let key = Digest.sha256(secret: point)
      return PINKeys(version: self, mac: SharedSecret(key.copy()), encryption: SharedSecret(key))
    case .two:
      let salt = [UInt8](repeating: 0, count: 32)
      return PINKeys(
        version: self,
        mac: SharedSecret(try KDF.hkdf(key: point, salt: salt, info: Array("CTAP2 HMAC key".utf8))),
        encryption: SharedSecret(try KDF.hkdf(key: point, salt: salt, info: Array("CTAP2 AES key".utf8))))
    }
  }
}

/// The keys that a platform and the authenticator share for one exchange.
struct PINKeys: Sendable {
  let version: PINProtocol
  let mac: SharedSecret
  let encryption: SharedSecret

  func encrypt(_ plaintext: borrowing SecretBytes) throws(KeysError) -> [UInt8] {
    switch version {
    case .one: return try AES256CBC.encrypt(plaintext, key: encryption.bytes, iv: Self.zeros)
    case .two:
      let iv = try Random.bytes(AES256CBC.blockCount)
      return iv + (try AES256CBC.encrypt(plaintext, key: encryption.bytes, iv: iv))
    }
  }

  func decrypt(_ ciphertext: [UInt8]) throws(KeysError) -> SecretBytes {
    switch version {
    case .one: return try AES256CBC.decrypt(ciphertext, key: encryption.bytes, iv: Self.zeros)
    case .two:
      let count = AES256CBC.blockCount
      return try AES256CBC.decrypt(
        Array(ciphertext.dropFirst(count)), key: encryption.bytes, iv: Array(ciphertext.prefix(count)))
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: AES256CBC.blockCount)
}

/// The authenticator's side of the key agreement: a key pair of P-256.
struct KeyAgreement: ~Copyable {
  private let pair: PrivateKey

  init() throws(KeysError) { pair = try PrivateKey.generate(.ec(.p256)) }

  /// The answer to `getKeyAgreement`.
  var publicKey: CBORValue { COSEKey(agreement: pair.publicKey.external)?.value ?? .null }

  /// The keys shared with the platform that has this public key.
  borrowing func keys(with peer: CBORValue, _ version: PINProtocol) throws(KeysError) -> PINKeys {
    guard let key = COSEKey(peer), case .agreement = key else { throw .badParameters("not a key for an agreement") }
    let publicKey = try PublicKey(external: key.external, family: .ec)
    return try version.keys(of: try pair.exchange(with: publicKey, .ecdh, requestedSize: 32, sharedInfo: []))
  }
}

/// What a token may be used for (CTAP 2.1, 6.5.5.7).
struct TokenPermissions: OptionSet, Sendable, Hashable {
  let rawValue: Int

  static let makeCredential = TokenPermissions(rawValue: 0x01)
  static let getAssertion = TokenPermissions(rawValue: 0x02)
  static let credentialManagement = TokenPermissions(rawValue: 0x04)
  /// The one permission that the prompt of a token announces, and that its touch is for (decision 0167). The token has the
  /// others for requests that change and sign nothing: Chromium looks up the passkeys of a list of exclusions with
  /// `getAssertion`.
  var announced: TokenPermissions {
    [Self.makeCredential, .getAssertion].first { contains($0) } ?? .credentialManagement
  }

  static let offered: TokenPermissions = [.makeCredential, .getAssertion, .credentialManagement]
}
