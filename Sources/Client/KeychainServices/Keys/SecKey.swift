// swift-format-ignore-file: AlwaysUseLowerCamelCase

// A key, and what can be asked about it.
//
// The names are Apple's.

public import Foundation
internal import Keys
internal import Primitives
package import SecretModel
package import Whorl

/// A cryptographic key: a public key, a private key in this process, or a private key in the store, which is used
/// there. The same halves of the same pair are equal.
public final class SecKey: NSObject, Sendable {
  /// Where the key is.
  enum Place: Sendable {
    case publicKey
    /// In this process, in libcrypto's memory. `staysInVault`: it must not be exported.
    case memory(PrivateKeyHolder, staysInVault: Bool)
    /// In the store. `context` and `reason` are those of the query that found it, and are used when it asks.
    case store(ItemID, staysInVault: Bool, context: AuthenticationContext?, reason: String?)
  }

  let place: Place
  /// Nil for a stored key that this module does not support, such as a symmetric one.
  let publicKey: PublicKey?
  let attributes: [AttributeName: AttributeValue]

  init(_ publicKey: PublicKey) {
    place = .publicKey
    self.publicKey = publicKey
    attributes = KeyAttributes.of(publicKey, isPrivate: false)
  }

  init(_ privateKey: consuming PrivateKey, staysInVault: Bool, isOfSecureEnclave: Bool = false) {
    publicKey = privateKey.publicKey
    var attributes = KeyAttributes.of(privateKey.publicKey, isPrivate: true, staysInVault: staysInVault)
    if isOfSecureEnclave { attributes[.tokenID] = .text(kSecAttrTokenIDSecureEnclave as String) }
    self.attributes = attributes
    place = .memory(PrivateKeyHolder(privateKey), staysInVault: staysInVault)
  }

  /// The key stored in an item.
  package init(_ item: Item, context: AuthenticationContext?, reason: String?) {
    attributes = item.attributes
    publicKey = KeyAttributes.publicKey(of: item)
    place = .store(
      item.id, staysInVault: item.access.flags.contains(.privateKeyUsage), context: context, reason: reason)
  }

  var isPrivate: Bool { attributes[.keyClass] == .text("1") }

  /// The item of a stored key; nil for other keys.
  var storedItem: ItemID? { if case .store(let id, _, _, _) = place { id } else { nil } }

  /// SHA-1 of the public key.
  var publicLabel: [UInt8] { publicKey?.label ?? [] }

  /// Whether the private key can be used but not exported.
  var staysInVault: Bool {
    switch place {
    case .publicKey: false
    case .memory(_, let stays), .store(_, let stays, _, _): stays
    }
  }

  /// The key's bytes, to store it as an item.
  func material() throws(KeychainFailure) -> SharedSecret {
    switch place {
    case .publicKey: return SharedSecret(SecretBytes(Data(publicKey?.external ?? [])))
    case .memory(let holder, _): return SharedSecret(try holder.external())
    case .store: throw KeychainFailure(errSecDuplicateItem)
    }
  }

  /// Whether both are the same half of the same pair.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecKey, isPrivate == other.isPrivate else { return false }
    guard let publicKey, let otherKey = other.publicKey else {
      return storedItem != nil && storedItem == other.storedItem
    }
    return publicKey == otherKey
  }

  /// The same for equal keys.
  public override var hash: Int { publicKey?.hashValue ?? storedItem.hashValue }

  /// Its kind and size. Never contains its bytes.
  public override var description: String {
    let half = isPrivate ? "private" : "public"
    guard let publicKey else { return "<SecKey: in the store>" }
    let family = publicKey.algorithm.family == .rsa ? "RSA" : "EC"
    return "<SecKey: \(family) \(half), \(publicKey.algorithm.bitCount) bits>"
  }
}

/// Lets several owners share a private key, which is noncopyable.
final class PrivateKeyHolder: Sendable {
  private let key: PrivateKey

  init(_ key: consuming PrivateKey) { self.key = key }

  func external() throws(KeychainFailure) -> SecretBytes {
    try use { key throws(KeysError) in try key.external() }
  }

  func use<Value: ~Copyable>(_ body: (borrowing PrivateKey) throws(KeysError) -> Value) throws(KeychainFailure) -> Value
  {
    do throws(KeysError) {
      return try body(key)
    } catch {
      throw KeychainFailure(error)
    }
  }
}

extension KeychainFailure {
  init(_ error: KeysError) {
    switch error {
    case .badParameters(let why): self.init(errSecParam, why)
    case .authenticationFailed: self.init(errSecParam, "the ciphertext was not made for this key")
    case .library, .random: self.init(errSecInternalError)
    }
  }
}

extension SecKey: IdentifiedType {
  static var typeIdentifier: CFTypeID { SecKeyGetTypeID() }
}

/// The identifier of keys.
@discardableResult
public func SecKeyGetTypeID() -> CFTypeID { 302 }

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
    KeyFamily(keyType: type).flatMap { [.ec, .rsa].contains($0) ? $0 : nil }
  }
}

extension AttributeName {
  /// `kSecAttrTokenID`
  static let tokenID = Self(rawValue: "tkid")
  /// `kSecAttrIsPermanent`
  static let isPermanent = Self(rawValue: "perm")
}

/// The public key of a private key; for a public key, the key itself. Nil for a key that this module does not support.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
  key.isPrivate ? key.publicKey.map { SecKey($0) } : key
}

/// The bytes of a key: PKCS #1 for RSA; for a curve X9.63, `04 ‖ X ‖ Y` and for a private key `‖ K`.
///
/// - Returns: nil, with `errSecUnimplemented`, for a private key that is only used in the vault. Another private key in
///   the store asks for the same as reading its item does.
@discardableResult
public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
  value(error) { () throws(KeychainFailure) in
    if !key.isPrivate, let publicKey = key.publicKey { return NSData(data: Data(publicKey.external)) }
    guard !key.staysInVault else {
      throw KeychainFailure(errSecUnimplemented, "this key is used in the vault and never leaves it")
    }
    switch key.place {
    case .publicKey: throw .parameter
    case .memory(let holder, _): return try holder.external().data()
    case .store(let id, _, let context, let reason):
      let released = try call { store throws(VaultError) in
        try await store.secrets(of: [id], reason: reason, using: context)
      }
      return released[0].secret.data()
    }
  }
}

/// The attributes of a key: its class, type, size, label and possible uses, and the attributes of a stored key.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
  let dictionary = NSMutableDictionary()
  for (name, value) in key.attributes where !name.isOwn {
    dictionary.setObject(value.object, forKey: name.rawValue as NSString)
  }
  dictionary.setObject(kSecClassKey, forKey: kSecClass)
  dictionary.setObject(NSNumber(value: key.storedItem != nil), forKey: kSecAttrIsPermanent)
  return dictionary
}

/// The length of a coordinate of the curve, or of the modulus, in bytes.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.publicKey?.algorithm.blockCount ?? 0 }
