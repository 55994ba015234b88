// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import KeySchemes
internal import Keys
package import SecretModel
internal import SecureMemory
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
