internal import Keys
internal import SecureMemory
internal import Vault

/// The attributes of a key that follow from the key itself.
enum KeyAttributes {
  /// What is known of a public key, or of the private key it belongs to.
  static func of(_ publicKey: PublicKey, isPrivate: Bool, staysInVault: Bool = false)
    -> [AttributeName: AttributeValue]
  {
    let size = AttributeValue.number(Int64(publicKey.algorithm.bitCount))
    var attributes: [AttributeName: AttributeValue] = [
      .keyClass: .text(isPrivate ? "1" : "0"), .keyType: .text(type(of: publicKey.algorithm.family)),
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

  /// What follows from a key that comes as data; nothing where it is none this module knows.
  static func read(_ given: [AttributeName: AttributeValue], _ secret: SecretCarrier)
    -> [AttributeName: AttributeValue]
  {
    guard case .text(let type)? = given[.keyType], let family = family(of: type) else { return [:] }
    switch given[.keyClass] {
    case .text("1"):
      let publicKey = secret.withSecret { secret -> PublicKey? in
        do throws(KeysError) {
          return try PrivateKey(stored: secret, family: family).publicKey
        } catch {
          return nil
        }
      }
      return publicKey.map { of($0, isPrivate: true) } ?? [:]
    case .text("0"):
      let bytes = secret.withSecret { $0.withUnsafeBytes { Array($0) } }
      return (try? PublicKey(brought: bytes, family: family)).map { of($0, isPrivate: false) } ?? [:]
    default: return [:]
    }
  }

  static func type(of family: KeyFamily) -> String {
    switch family {
    case .ec: "73"
    case .rsa: "42"
    }
  }

  static func family(of type: String) -> KeyFamily? {
    switch type {
    case "73": .ec
    case "42": .rsa
    default: nil
    }
  }
}
