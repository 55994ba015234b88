internal import KeySchemes
internal import SDBus
internal import SecretModel

/// The operation, the scheme as a list of words, and the data.
extension KeyUse: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    switch self {
    case .sign(let bytes, let scheme):
      .record(["use": .string("sign"), "input": .bytes(bytes), "scheme": .words(scheme.words)])
    case .decrypt(let bytes, let scheme):
      .record(["use": .string("decrypt"), "input": .bytes(bytes), "scheme": .words(scheme.words)])
    case .exchange(let key, let scheme, let size, let sharedInfo):
      .record([
        "use": .string("exchange"), "input": .bytes(key), "scheme": .words(scheme.words), "size": size.busValue,
        "shared-info": .bytes(sharedInfo),
      ])
    case .export: .record(["use": .string("export")])
    }
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    func input() throws(VaultError) -> [UInt8] { try record.take("input", as: Octets.self).bytes }
    func scheme<Scheme>(_ make: ([String]) -> Scheme?) throws(VaultError) -> Scheme {
      let words = try record.take("scheme", as: Words.self).words
      guard let scheme = make(words) else {
        throw .versionMismatch("the vault does not know the scheme \(words.joined(separator: " "))")
      }
      return scheme
    }
    let use = try record.take("use", as: Word.self).word
    switch use {
    case "sign": self = .sign(try input(), try scheme(SignatureScheme.init(words:)))
    case "decrypt": self = .decrypt(try input(), try scheme(EncryptionScheme.init(words:)))
    case "exchange":
      self = .exchange(
        with: try input(), try scheme(ExchangeScheme.init(words:)), size: try record.take("size"),
        sharedInfo: try record.take("shared-info", as: Octets.self).bytes)
    case "export": self = .export
    default: throw .versionMismatch("the vault does not know the use \(use) of a key: it is older than this program")
    }
    try record.end()
  }
}

/// A word of the interface, to be looked up by the reader.
struct Word: BusCodable {
  let word: String

  static var busSignature: String { "s" }
  var busValue: BusValue { .string(word) }
  init(bus value: BusValue) throws(VaultError) {
    guard let word = value.asString else { throw .unreadable(Self.self) }
    self.word = word
  }
}

/// A list of words.
struct Words: BusCodable {
  let words: [String]

  static var busSignature: String { "as" }
  var busValue: BusValue { .words(words) }
  init(bus value: BusValue) throws(VaultError) {
    guard case .array("s", let values) = value else { throw .unreadable(Self.self) }
    words = values.compactMap(\.asString)
  }
}

extension BusValue {
  static func words(_ words: [String]) -> BusValue { .array(of: "s", words.map { .string($0) }) }
}

extension SignatureScheme {
  fileprivate var words: [String] {
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

  fileprivate init?(words: [String]) {
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

extension EncryptionScheme {
  fileprivate var words: [String] {
    switch self {
    case .rsaRaw: ["rsa-raw"]
    case .rsaPKCS1: ["rsa-pkcs1"]
    case .rsaOAEP(let hash): ["rsa-oaep", hash.rawValue]
    case .rsaOAEPAESGCM(let hash): ["rsa-oaep-aes-gcm", hash.rawValue]
    case .ecies(let hash, let nonce): ["ecies", hash.rawValue, nonce.rawValue]
    }
  }

  fileprivate init?(words: [String]) {
    let hash = words.count > 1 ? HashFunction(rawValue: words[1]) : nil
    let nonce = words.count > 2 ? Nonce(rawValue: words[2]) : nil
    switch (words.first, words.count, hash, nonce) {
    case ("rsa-raw", 1, _, _): self = .rsaRaw
    case ("rsa-pkcs1", 1, _, _): self = .rsaPKCS1
    case ("rsa-oaep", 2, let hash?, _): self = .rsaOAEP(hash)
    case ("rsa-oaep-aes-gcm", 2, let hash?, _): self = .rsaOAEPAESGCM(hash)
    case ("ecies", 3, let hash?, let nonce?): self = .ecies(hash, nonce)
    default: return nil
    }
  }
}

extension ExchangeScheme {
  fileprivate var words: [String] {
    switch self {
    case .ecdh: ["ecdh"]
    case .ecdhX963(let hash): ["ecdh-x963", hash.rawValue]
    }
  }

  fileprivate init?(words: [String]) {
    let hash = words.count > 1 ? HashFunction(rawValue: words[1]) : nil
    switch (words.first, words.count, hash) {
    case ("ecdh", 1, _): self = .ecdh
    case ("ecdh-x963", 2, let hash?): self = .ecdhX963(hash)
    default: return nil
    }
  }
}
