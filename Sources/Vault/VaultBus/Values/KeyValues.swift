package import Primitives
package import SDBus
package import SecretModel

// MARK: Keys

/// The word of the algorithm of a new key, or the form of a key that is brought, and the key then.
extension KeySource: BusParts {
  package static var busSignature: String { "sah" }
  package static var places: Int { 2 }

  package func busValues() throws -> [BusValue] {
    let (form, key): (String, SharedSecret?) =
      switch self {
      case .generated(let algorithm): (algorithm.word, nil)
      case .ssh(let key): ("ssh", key)
      case .passkey(let key): ("passkey", key)
      }
    let files: [BusFile] = if let key { [try key.bytes.sealedForItem()] } else { [] }
    return [.string(form), files.busValue]
  }

  package init(bus values: [BusValue]) throws {
    let brought = try SecretBytes.optional(sealed: try [BusFile](bus: values[1]))
    let key: SharedSecret? = if let brought { SharedSecret(brought) } else { nil }
    switch (values[0].asString, key) {
    case ("ssh", let key?): self = .ssh(key)
    case ("passkey", let key?): self = .passkey(key)
    case (let word?, nil):
      guard let algorithm = KeyAlgorithm(word: word) else {
        throw VaultError.versionMismatch("the vault does not make keys of the kind \(word)")
      }
      self = .generated(algorithm)
    default: throw BusValueError.unreadable(what: "the source of a key")
    }
  }
}

/// The operation, the scheme as a list of words, and the data.
extension KeyUse: StrictBusChoice {
  package static var kindKey: String { "use" }
  package static let samples: [Self] = [
    .sign([], .ed25519), .decrypt([], .rsaRaw), .exchange(with: [], .ecdh, size: 0, sharedInfo: []), .export,
    .oneTimeCode,
  ]

  package func coded(_ f: inout KindFields) throws -> Self {
    switch self {
    case .sign(let bytes, let scheme): .sign(try f("sign", "input", bytes), try f("scheme", scheme))
    case .decrypt(let bytes, let scheme): .decrypt(try f("decrypt", "input", bytes), try f("scheme", scheme))
    case .exchange(let key, let scheme, let size, let sharedInfo):
      .exchange(
        with: try f("exchange", "input", key), try f("scheme", scheme), size: try f("size", size),
        sharedInfo: try f("shared-info", sharedInfo))
    case .export: f.kind("export", self)
    case .oneTimeCode: f.kind("one-time-code", self)
    }
  }
}

/// A scheme as a list of words (`as`): its name and its parameters.
package protocol SchemeWords: BusCodable {
  var words: [String] { get }
  init?(words: [String])
}

extension SchemeWords {
  package static var busSignature: String { "as" }
  package var busValue: BusValue { words.map(Word.init).busValue }
  package init(bus value: BusValue) throws {
    let words = try [Word](bus: value).map(\.word)
    guard let scheme = Self(words: words) else {
      throw VaultError.versionMismatch("the vault does not know the scheme \(words.joined(separator: " "))")
    }
    self = scheme
  }
}

extension SignatureScheme: SchemeWords {
  package var words: [String] {
    switch self {
    case .rsaRaw: ["rsa-raw"]
    case .rsaPKCS1Raw: ["rsa-pkcs1-raw"]
    case .rsaPKCS1(let hash, let input): ["rsa-pkcs1", hash.rawValue, input.rawValue]
    case .rsaPSS(let hash, let input): ["rsa-pss", hash.rawValue, input.rawValue]
    case .ecdsa(let hash, let input, let encoding): ["ecdsa", hash.rawValue, input.rawValue, encoding.rawValue]
    case .ecdsaDigest(let encoding): ["ecdsa-digest", encoding.rawValue]
    case .ed25519: ["ed25519"]
    }
  }

  package init?(words: [String]) {
    let hash = words.count > 1 ? HashFunction(rawValue: words[1]) : nil
    let input = words.count > 2 ? Input(rawValue: words[2]) : nil
    let encoding = words.last.flatMap(ECDSAEncoding.init(rawValue:))
    switch (words.first, words.count, hash, input, encoding) {
    case ("rsa-raw", 1, _, _, _): self = .rsaRaw
    case ("rsa-pkcs1-raw", 1, _, _, _): self = .rsaPKCS1Raw
    case ("rsa-pkcs1", 3, let hash?, let input?, _): self = .rsaPKCS1(hash, input)
    case ("rsa-pss", 3, let hash?, let input?, _): self = .rsaPSS(hash, input)
    case ("ecdsa", 4, let hash?, let input?, let encoding?): self = .ecdsa(hash, input, encoding)
    case ("ecdsa-digest", 2, _, _, let encoding?): self = .ecdsaDigest(encoding)
    case ("ed25519", 1, _, _, _): self = .ed25519
    default: return nil
    }
  }
}

extension EncryptionScheme: SchemeWords {
  package var words: [String] {
    switch self {
    case .rsaRaw: ["rsa-raw"]
    case .rsaPKCS1: ["rsa-pkcs1"]
    case .rsaOAEP(let hash): ["rsa-oaep", hash.rawValue]
    case .rsaOAEPAESGCM(let hash): ["rsa-oaep-aes-gcm", hash.rawValue]
    case .ecies(let hash, let nonce): ["ecies", hash.rawValue, nonce.rawValue]
    case .ageX25519: ["age-x25519"]
    }
  }

  package init?(words: [String]) {
    let hash = words.count > 1 ? HashFunction(rawValue: words[1]) : nil
    let nonce = words.count > 2 ? Nonce(rawValue: words[2]) : nil
    switch (words.first, words.count, hash, nonce) {
    case ("rsa-raw", 1, _, _): self = .rsaRaw
    case ("rsa-pkcs1", 1, _, _): self = .rsaPKCS1
    case ("rsa-oaep", 2, let hash?, _): self = .rsaOAEP(hash)
    case ("rsa-oaep-aes-gcm", 2, let hash?, _): self = .rsaOAEPAESGCM(hash)
    case ("ecies", 3, let hash?, let nonce?): self = .ecies(hash, nonce)
    case ("age-x25519", 1, _, _): self = .ageX25519
    default: return nil
    }
  }
}

extension ExchangeScheme: SchemeWords {
  package var words: [String] {
    switch self {
    case .ecdh: ["ecdh"]
    case .ecdhX963(let hash): ["ecdh-x963", hash.rawValue]
    }
  }

  package init?(words: [String]) {
    let hash = words.count > 1 ? HashFunction(rawValue: words[1]) : nil
    switch (words.first, words.count, hash) {
    case ("ecdh", 1, _): self = .ecdh
    case ("ecdh-x963", 2, let hash?): self = .ecdhX963(hash)
    default: return nil
    }
  }
}

// MARK: Passkeys

extension NewPasskey: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    guard let algorithm = KeyAlgorithm(word: try f.word("algorithm", \.algorithm.word)),
      let protection = Passkey.Protection(rawValue: try f("protection", \.protection.rawValue))
    else { throw VaultError.versionMismatch("the vault does not make passkeys of this kind") }
    let user = Passkey.User(
      handle: try f("user", \.user.handle), name: try f("user-name", \.user.name),
      displayName: try f("display-name", \.user.displayName))
    self.init(
      relyingParty: try f("rp", \.relyingParty), relyingPartyName: try f("rp-name", \.relyingPartyName), user: user,
      algorithm: algorithm, isDiscoverable: try f("discoverable", \.isDiscoverable), protection: protection,
      repliesWithProtection: try f("replies-with-protection", \.repliesWithProtection),
      hasSecret: try f("hmac-secret", \.hasSecret), blob: try f("blob", \.blob),
      clientDataHash: try f("client-data-hash", \.clientDataHash), access: try f("access", \.access))
  }
}

/// A record, and two secrets: the key for the outputs of `hmac-secret` and its salts, or none.
extension PasskeyAssertion: BusParts {
  package static var busSignature: String { "a{sv}ah" }
  package static var places: Int { 2 }

  private struct Record: StrictBusRecord {
    let clientDataHash: [UInt8]
    let wantsBlob: Bool
    let encryption: Int?

    init(_ assertion: PasskeyAssertion) {
      (clientDataHash, wantsBlob) = (assertion.clientDataHash, assertion.wantsBlob)
      encryption = assertion.secretRequest?.encryption.rawValue
    }

    init(_ f: inout Fields<Self>) throws {
      clientDataHash = try f("client-data-hash", \.clientDataHash)
      wantsBlob = try f("blob", \.wantsBlob)
      encryption = try f("encryption", \.encryption)
    }
  }

  package func busValues() throws -> [BusValue] {
    var secrets: [BusFile] = []
    if let secretRequest {
      secrets = [try secretRequest.key.bytes.sealed(), try secretRequest.salts.bytes.sealed()]
    }
    return [Record(self).busValue, secrets.busValue]
  }

  package init(bus values: [BusValue]) throws {
    let (record, secrets) = (try Record(bus: values[0]), try [BusFile](bus: values[1]))
    guard secrets.count == (record.encryption == nil ? 0 : 2) else { throw BusValueError.unreadable(Self.self) }
    var request: PasskeySecretRequest?
    if let encryption = record.encryption {
      guard let encryption = PasskeySecretRequest.Encryption(rawValue: encryption) else {
        throw BusValueError.unreadable(Self.self)
      }
      request = PasskeySecretRequest(
        encryption: encryption, key: SharedSecret(try SecretBytes(sealed: secrets[0], limit: 32)),
        salts: SharedSecret(try SecretBytes(sealed: secrets[1], limit: 64)))
    }
    self.init(clientDataHash: record.clientDataHash, secretRequest: request, wantsBlob: record.wantsBlob)
  }
}

extension SignedCeremony: BusStructure {
  package static var busSignature: String { "(ayay)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(
      authenticatorData: try f("authenticator-data", \.authenticatorData), signature: try f("signature", \.signature))
  }
}

extension PasskeyReadiness: BusRecord {
  package init(_ f: inout Fields<Self>) throws {
    self.init(capacity: try f("capacity", \.capacity), hasFinger: try f("finger", \.hasFinger))
  }
}
