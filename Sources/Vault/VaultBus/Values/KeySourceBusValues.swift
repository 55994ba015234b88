internal import KeySchemes
internal import SDBus
internal import SecretModel
internal import SecureMemory

/// Two arguments: the word of the algorithm of a new key, or the form of a key that is brought, and the key then.
extension KeySource {
  var busValues: [BusValue] {
    get throws(VaultError) {
      switch self {
      case .generated(let algorithm): return [.string(algorithm.word), .array(of: "h", [])]
      case .ssh(let key): return try Self.brought("ssh", key)
      case .passkey(let key): return try Self.brought("passkey", key)
      }
    }
  }

  private static func brought(_ form: String, _ key: SharedSecret) throws(VaultError) -> [BusValue] {
    guard key.bytes.count <= NewItem.secretLimit else { throw .secretTooLong(limit: NewItem.secretLimit) }
    return [.string(form), .array(of: "h", [try key.bytes.sealed()])]
  }

  init(kind: BusValue, secret: BusValue) throws(VaultError) {
    let brought = try SecretBytes.optional(sealed: secret, limit: NewItem.secretLimit)
    let key: SharedSecret? = if let brought { SharedSecret(brought) } else { nil }
    switch (kind.asString, key) {
    case ("ssh", let key?): self = .ssh(key)
    case ("passkey", let key?): self = .passkey(key)
    case (let word?, nil):
      guard let algorithm = KeyAlgorithm(word: word) else {
        throw .versionMismatch("the vault does not make keys of the kind \(word)")
      }
      self = .generated(algorithm)
    default: throw .unreadable("the source of a key")
    }
  }
}
