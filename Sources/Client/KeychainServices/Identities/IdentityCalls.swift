internal import Foundation
internal import Keys
internal import SecretModel
internal import SecureMemory
internal import Whorl

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
