internal import KeySchemes
internal import Keys
internal import SecretModel
internal import SecureMemory

/// The attributes that are derived from a key itself.
enum KeyAttributes {
  /// The attributes of a public key, or of its private key.
  static func of(_ publicKey: PublicKey, isPrivate: Bool, staysInVault: Bool = false)
    -> [AttributeName: AttributeValue]
  {
    let size = AttributeValue.number(Int64(publicKey.algorithm.bitCount))
    var attributes: [AttributeName: AttributeValue] = [
      .keyClass: .text(isPrivate ? "1" : "0"), .keyType: .text(publicKey.algorithm.family.keyType),
      .keySizeInBits: size, .effectiveKeySize: size, .applicationLabel: .bytes(publicKey.label),
      .publicKey: .bytes(publicKey.external),
    ]
    let isRSA = publicKey.algorithm.family == .rsa
    let uses: [(name: String, holds: Bool)] = [
      ("priv", isPrivate), ("modi", true), ("sens", staysInVault), ("asen", staysInVault), ("extr", !staysInVault),
      ("next", staysInVault), ("encr", !isPrivate && isRSA), ("decr", isPrivate && isRSA),
      ("drve", !isRSA || isPrivate),
      ("sign", isPrivate), ("vrfy", !isPrivate), ("snrc", false), ("vyrc", false), ("wrap", !isPrivate && isRSA),
      ("unwp", isPrivate && isRSA),
    ]
    for use in uses { attributes[AttributeName(rawValue: use.name)] = .number(use.holds ? 1 : 0) }
    return attributes
  }

  /// The attributes of a key given as data; empty for a key that this module does not support.
  static func read(_ given: [AttributeName: AttributeValue], _ secret: borrowing SecretBytes)
    -> [AttributeName: AttributeValue]
  {
    guard case .text(let type)? = given[.keyType], let family = family(of: type) else { return [:] }
    switch given[.keyClass] {
    case .text("1"):
      do throws(KeysError) {
        return of(try PrivateKey(stored: secret, family: family).publicKey, isPrivate: true)
      } catch {
        return [:]
      }
    // Without a key class it is a public key, as on Apple's systems.
    case .text("0"), nil:
      let bytes = secret.withUnsafeBytes { Array($0) }
      return (try? PublicKey(brought: bytes, family: family)).map { of($0, isPrivate: false) } ?? [:]
    default: return [:]
    }
  }

  /// The further attributes that change when stored keys get other bytes: the public key, and the attributes derived
  /// from it unless the program sets them.
  ///
  /// - Throws: `VaultError.invalidRequest` where they are not the same for all of the keys.
  static func changes(of items: [Item], to secret: borrowing SecretBytes, beside change: ItemChange) throws(VaultError)
    -> [AttributeName: AttributeValue?]
  {
    var all: [AttributeName: AttributeValue?]?
    for item in items where item.itemClass == .key {
      let new = read(item.attributes.merging(change.attributes.compactMapValues { $0 }) { $1 }, secret)
      let old = publicKey(of: item).map { of($0, isPrivate: false) } ?? [:]
      var changes: [AttributeName: AttributeValue?] = [:]
      for name in [AttributeName.publicKey, .applicationLabel, .keySizeInBits, .effectiveKeySize]
      where item.attributes[name] == old[name] && old[name] != new[name] {
        changes[name] = .some(new[name])
      }
      guard all == nil || all == changes else { throw .invalidRequest("these keys cannot get the same bytes") }
      all = changes
    }
    return all ?? [:]
  }

  /// The public key of a stored key; nil if this module does not support it.
  static func publicKey(of item: Item) -> PublicKey? {
    guard case .text(let type)? = item.attributes[.keyType], let family = family(of: type),
      case .bytes(let bytes)? = item.attributes[.publicKey]
    else { return nil }
    return try? PublicKey(external: bytes, family: family)
  }

  /// Nil for a type that Apple's calls do not have, such as that of Ed25519.
  static func family(of type: String) -> KeyFamily? {
    KeyFamily(keyType: type).flatMap { $0 == .ed25519 ? nil : $0 }
  }
}

extension AttributeName {
  /// `kSecAttrTokenID`
  static let tokenID = Self(rawValue: "tkid")
  /// `kSecAttrIsPermanent`
  static let isPermanent = Self(rawValue: "perm")
}
