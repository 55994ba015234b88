// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Identities: a private key with its certificate.
//
// The names are Apple's.

public import Foundation
internal import Keys
internal import Primitives
internal import SecretModel
internal import Whorl

/// A certificate and its private key. Identities with the same certificate and key are equal.
public final class SecIdentity: NSObject, Sendable {
  let certificate: SecCertificate
  let privateKey: SecKey

  init(_ certificate: SecCertificate, _ privateKey: SecKey) {
    self.certificate = certificate
    self.privateKey = privateKey
  }

  /// Whether certificate and key are the same.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecIdentity else { return false }
    return certificate.isEqual(other.certificate) && privateKey.isEqual(other.privateKey)
  }

  /// The same for equal identities.
  public override var hash: Int { certificate.hash }

  /// The summary of its subject, and the kind of its key.
  public override var description: String { "<SecIdentity: \(certificate), \(privateKey)>" }
}

/// The certificate of an identity.
@discardableResult
public func SecIdentityCopyCertificate(
  _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
  certificateRef.pointee = identityRef.certificate
  return errSecSuccess
}

/// The private key of an identity. Its access control is checked when the key is used, not now.
@discardableResult
public func SecIdentityCopyPrivateKey(
  _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
  privateKeyRef.pointee = identityRef.privateKey
  return errSecSuccess
}

/// The identity of a certificate, stored or not, whose private key is in the store.
///
/// - Parameters:
///   - keychainOrArray: ignored; there is one store.
///   - certificateRef: the certificate.
///   - identityRef: set to the identity; not changed where there is none.
/// - Returns: `errSecItemNotFound` where the private key is not in the store.
@discardableResult
public func SecIdentityCreateWithCertificate(
  _ keychainOrArray: CFTypeRef?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
  status { () throws(KeychainFailure) in
    let key: [CFString: Any] = [
      kSecClass: kSecClassKey, kSecAttrKeyClass: kSecAttrKeyClassPrivate,
      kSecAttrApplicationLabel: Data(certificateRef.certificate.publicKeyHash),
      kSecAttrSynchronizable: kSecAttrSynchronizableAny,
    ]
    let search = try KeychainQuery(key as CFDictionary).search(limit: 1)
    let items = try call { store throws(VaultError) in try await store.foundItems(search) }
    let found = SecKey(items[0], context: nil, reason: nil)
    guard let publicKey = found.publicKey, publicKey == certificateRef.certificate.publicKey else {
      throw KeychainFailure(errSecItemNotFound)
    }
    identityRef.pointee = SecIdentity(certificateRef, found)
  }
}

extension SecIdentity: IdentifiedType {
  static var typeIdentifier: CFTypeID { SecIdentityGetTypeID() }
}

/// The identifier of identities.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID { 304 }

/// A dictionary of `kSecClassIdentity`, read as two queries: for certificates and for private keys. An identity is not
/// an item, but a certificate and a private key whose `kSecAttrApplicationLabel` is the certificate's
/// `kSecAttrPublicKeyHash`.
///
/// As in Apple's store, the certificate identifies an identity. Attributes of certificates and the label are conditions
/// on the certificate; access group and synchronizability on both; all other attributes on the key.
struct IdentityQuery {
  var certificates: KeychainQuery
  var keys: KeychainQuery
  /// The identity to add.
  let identity: SecIdentity?

  /// Nil for a query of another class.
  init?(_ dictionary: CFDictionary) throws(KeychainFailure) {
    guard Self.isMeant(by: dictionary) else { return nil }
    let (certificate, key) = (NSMutableDictionary(), NSMutableDictionary())
    for (name, value) in dictionary {
      guard let name = name as? String else { throw .parameter }
      switch name {
      case "class": break
      case "v_Ref", "v_PersistentRef":
        let (name, value) = try Self.certificateReference(value)
        certificate[name] = value
      case "m_ItemList":
        guard let list = value as? [Any] else { throw .parameter }
        var certificates: [Any] = []
        for entry in list { certificates.append(try Self.certificateReference(entry).value) }
        certificate[name] = certificates
      case "v_Data": throw KeychainFailure(errSecParam, "an identity is given by its reference")
      case _ where Self.attributesOfCertificates.contains(name): certificate[name] = value
      case _ where Self.isOfBoth(name):
        certificate[name] = value
        key[name] = value
      default: key[name] = value
      }
    }
    certificate[kSecClass as String] = kSecClassCertificate
    key[kSecClass as String] = kSecClassKey
    certificates = try KeychainQuery(certificate)
    keys = try KeychainQuery(key)
    identity = dictionary.object(forKey: kSecValueRef) as? SecIdentity
  }

  static let attributesOfCertificates: Set<String> = [
    "labl", "subj", "issr", "slnr", "skid", "pkhh", "ctyp", "cenc",
  ]

  private static func isOfBoth(_ name: String) -> Bool {
    ["agrp", "sync", "nleg"].contains(name) || ["m_", "r_", "u_"].contains(name.prefix(2))
  }

  private static func isMeant(by dictionary: CFDictionary) -> Bool {
    if let itemClass = dictionary.object(forKey: kSecClass) {
      return itemClass as? String == kSecClassIdentity as String
    }
    let references = [kSecValueRef, kSecValuePersistentRef].compactMap { dictionary.object(forKey: $0) }
    let list = dictionary.object(forKey: kSecMatchItemList) as? [Any] ?? []
    return (references + list).contains { entry in
      entry is SecIdentity || (entry as? Data).flatMap { PersistentReference.certificate(ofIdentity: $0) } != nil
    }
  }

  /// The reference of an identity's certificate, and its key in a query.
  private static func certificateReference(_ value: Any) throws(KeychainFailure) -> (name: String, value: Any) {
    switch value {
    case let identity as SecIdentity: return (kSecValueRef as String, identity.certificate)
    case let data as Data:
      guard let id = PersistentReference.certificate(ofIdentity: data) else { throw .parameter }
      return (kSecValuePersistentRef as String, PersistentReference.data(id) as Data)
    default: throw .parameter
    }
  }
}

extension PersistentReference {
  private static let identityPrefix = Data("idnt".utf8)

  /// The persistent reference of the identity with this certificate.
  static func data(ofIdentity certificate: ItemID) -> NSData {
    NSData(data: identityPrefix + Data(certificate.bytes))
  }

  /// The certificate in a persistent reference of an identity; nil for any other reference.
  static func certificate(ofIdentity data: Data) -> ItemID? {
    data.starts(with: identityPrefix) ? item(Data(data.dropFirst(identityPrefix.count))) : nil
  }
}

/// An identity in the store.
struct StoredIdentity: Sendable {
  let certificate: Item
  let key: Item
}

/// A search for identities.
struct IdentityFinder: Sendable {
  private let certificates: ItemSearch
  private let keys: ItemSearch
  /// How to treat keys that would ask a person.
  private let interaction: ItemSearch.Interaction
  private let context: AuthenticationContext?
  private let limit: Int?

  /// - Parameter changing: whether the identities are to be deleted. Without an access group, only the program's own
  ///   are found then.
  init(_ query: IdentityQuery, limit: Int?, changing: Bool = false) {
    // Search without asking: keys without a certificate do not matter, even if they require authentication.
    certificates = query.certificates.unasked.search(limit: nil, changing: changing)
    keys = query.keys.unasked.search(limit: nil, changing: changing)
    interaction = query.keys.search(limit: nil).interaction
    context = query.keys.context
    self.limit = limit
  }

  /// The found identities, those of the oldest certificate first.
  ///
  /// - Throws: `itemGone` where there are none, `interactionNotAllowed` where a key would ask and that is not allowed.
  func identities(in store: SecretStore) async throws(VaultError) -> [StoredIdentity] {
    let keys = try await store.foundItems(keys).filter { $0.attributes[.keyClass] == .text("1") }
    let byLabel = Dictionary(grouping: keys) { $0.attributes[.applicationLabel] }
    var found: [StoredIdentity] = []
    for certificate in try await store.foundItems(certificates) {
      guard let hash = certificate.attributes[.publicKeyHash] else { continue }
      found += (byLabel[hash] ?? []).map { StoredIdentity(certificate: certificate, key: $0) }
    }
    // Skipped keys do not count for the limit. Only keys within the limit make the search fail.
    if interaction == .skip { found = try await thoseThatMayBeReturned(found, in: store) }
    if let limit { found = Array(found.prefix(limit)) }
    if interaction == .fail { found = try await thoseThatMayBeReturned(found, in: store) }
    guard !found.isEmpty else { throw .itemGone }
    return found
  }

  /// The identities whose keys ask nobody.
  ///
  /// - Throws: `interactionNotAllowed` where a key would ask and the search is to fail in that case.
  private func thoseThatMayBeReturned(_ found: [StoredIdentity], in store: SecretStore) async throws(VaultError)
    -> [StoredIdentity]
  {
    var search = ItemSearch(.key, groups: .all, ids: found.map(\.key.id), synchronizable: .any)
    search.interaction = interaction
    let keys = Set(try await store.items(search, using: context).map(\.id))
    return found.filter { keys.contains($0.key.id) }
  }

  /// The items to delete with identities: their certificates, and those of their keys that no other certificate needs.
  func itemsToDelete(in store: SecretStore) async throws(VaultError) -> [ItemID] {
    let identities = try await identities(in: store)
    let certificates = Set(identities.map(\.certificate.id))
    var ids = certificates
    for key in Set(identities.map(\.key)) {
      guard let label = key.attributes[.applicationLabel] else { continue }
      let others = try await store.items(
        ItemSearch(.certificate, [.publicKeyHash: label], groups: .all, synchronizable: .any))
      if others.allSatisfy({ certificates.contains($0.id) }) { ids.insert(key.id) }
    }
    return Array(ids)
  }
}

// The four calls of Keychain Services for `kSecClassIdentity`.

extension IdentityQuery {
  func copyMatching(_ result: UnsafeMutablePointer<CFTypeRef?>?) throws(KeychainFailure) {
    let returns = keys.returns
    guard returns.isEmpty || result != nil else { throw .parameter }
    let limit = keys.countLimit
    let finder = IdentityFinder(self, limit: limit)
    let needsBytes = returns.contains(.data) || returns.contains(.reference)
    let found = try call { store throws(VaultError) in
      let identities = try await finder.identities(in: store)
      // Several identities may share a certificate. Reading certificates asks nobody.
      let ids = needsBytes ? Array(Set(identities.map(\.certificate.id))) : []
      let released = ids.isEmpty ? [] : try await store.secrets(of: ids)
      return (identities, Dictionary(zip(ids, released)) { $1 })
    }
    guard let result, !returns.isEmpty else { return }
    let rows = try found.0.map { identity throws(KeychainFailure) in
      try row(identity, found.1[identity.certificate.id]?.secret.data() as Data?)
    }
    result.pointee = limit == 1 ? rows[0] : rows as NSArray
  }

  /// The result for an identity: the one requested value, or a dictionary of several. Its data is the certificate's.
  private func row(_ found: StoredIdentity, _ der: Data?) throws(KeychainFailure) -> NSObject {
    var values: [(what: KeychainQuery.Returns, key: CFString, value: NSObject)] = []
    if let der {
      let key = SecKey(found.key, context: keys.context, reason: keys.reason)
      guard let certificate = Certificate(der: Array(der)), let publicKey = key.publicKey,
        certificate.publicKey == publicKey
      else { throw KeychainFailure(errSecDecode, "the certificate is damaged, or is not that of the key") }
      values.append((.data, kSecValueData, NSData(data: der)))
      values.append((.reference, kSecValueRef, SecIdentity(SecCertificate(certificate), key)))
    }
    values.append(
      (.persistentReference, kSecValuePersistentRef, PersistentReference.data(ofIdentity: found.certificate.id)))
    values.removeAll { !keys.returns.contains($0.what) }
    if let only = values.first, keys.returns == only.what { return only.value }
    let dictionary = NSMutableDictionary()
    if keys.returns.contains(.attributes) {
      // The key's attributes, overridden by those that a search applies to the certificate.
      for (item, isWhole) in [(found.key, true), (found.certificate, false)] {
        for (name, value) in item.attributeDictionary {
          guard let name = name as? String, isWhole || Self.attributesOfCertificates.contains(name) else { continue }
          dictionary.setObject(value, forKey: name as NSString)
        }
      }
      dictionary.setObject(kSecClassIdentity, forKey: kSecClass)
    }
    for value in values { dictionary.setObject(value.value, forKey: value.key) }
    return dictionary
  }

  /// Adds the certificate of an identity. Its private key is in the store already, and is not changed.
  ///
  /// - Throws: `errSecItemNotFound` where the key is gone or in another access group, `errSecDuplicateItem` where the
  ///   store has the certificate as well.
  func add(_ result: UnsafeMutablePointer<CFTypeRef?>?) throws(KeychainFailure) {
    guard let identity, let storedKey = identity.privateKey.storedItem, !keys.mentionsMatching,
      keys.interaction != .skip, keys.returns.isEmpty || result != nil
    else { throw .parameter }
    var certificateQuery = certificates
    certificateQuery.protection = keys.protection
    let (certificate, der) = try certificateQuery.newItem()
    var keyQuery = keys
    keyQuery.ids = [storedKey]
    keyQuery.attributes = keys.attributes.filter { $0.key == .accessGroup }
    keyQuery.protection = nil
    let search = keyQuery.unasked.search(limit: 1)
    try call { store throws(VaultError) in
      _ = try await store.foundItems(search)
      try await store.add(certificate, secret: der.copy())
    }
    guard result != nil, !keys.returns.isEmpty else { return }
    try copyMatching(result)
  }

  /// Removes the certificates of the found identities, and those of their keys that no other certificate needs.
  func delete() throws(KeychainFailure) {
    guard !keys.hasIgnoredCondition, keys.interaction != .skip, keys.limit == nil || keys.limit == .all else {
      throw .parameter
    }
    var query = self
    query.keys = keys.unasked
    let finder = IdentityFinder(query, limit: nil, changing: true)
    try call { store throws(VaultError) in try await store.delete(try await finder.itemsToDelete(in: store)) }
  }
}
