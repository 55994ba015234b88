// swift-format-ignore-file: AlwaysUseLowerCamelCase

// KeychainServices: Apple's Keychain Services over `Whorl`. Begin with the four calls of this file: they make a
// `KeychainQuery` of the caller's dictionary, ask the store, and answer with `ResultRow`s and a status.
//
// The names are Apple's.

public import Foundation
internal import Keys
internal import Primitives
internal import SecretModel
internal import Whorl

/// Adds an item. Never asks for anything.
///
/// - Parameters:
///   - attributes: the class, the attributes, the secret (`kSecValueData` or, for a key, a certificate or an identity,
///     `kSecValueRef`), its protection, and what to return. For an identity, the certificate is added; its private key
///     is in the store already.
///   - result: set to what `kSecReturn…` asks for.
/// - Returns: `errSecDuplicateItem` where there is a living item with the same primary attributes. One whose set is
///   gone is replaced.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(KeychainFailure) in
    if let identity = try IdentityQuery(attributes) { return try identity.add(result) }
    let query = try KeychainQuery(attributes)
    guard query.returns.isEmpty || result != nil else { throw .parameter }
    guard !query.mentionsMatching, query.interaction != .skip else { throw .parameter }
    guard !query.namesStoredKey else { throw KeychainFailure(errSecDuplicateItem) }
    guard query.ids == nil else { throw .parameter }
    let (item, secret) = try query.newItem()
    let returnsData = query.returns.contains(.data)
    // A key that is only used in the vault cannot be returned as data.
    guard !returnsData || !item.access.flags.contains(.privateKeyUsage) else {
      throw KeychainFailure(errSecUnimplemented)
    }
    let context = query.context
    let added = try call { store throws(VaultError) in
      try await store.add(item, secret: secret.copy(), using: context)
    }
    guard let result, !query.returns.isEmpty else { return }
    let given: ResultRow.Secret =
      item.itemClass == .certificate
      ? .certificate(try query.certificateToAdd()) : .given(returnsData ? secret.bytes.data() as Data : Data())
    let row = ResultRow(item: added, secret: given, returns: query.returns, context: context, reason: query.reason)
    result.pointee = row.object
  }
}

extension KeychainQuery {
  /// The item to add.
  ///
  /// - Throws: `errSecParam` for an invalid item.
  func newItem() throws(KeychainFailure) -> (NewItem, SharedSecret) {
    guard let itemClass else { throw .parameter }
    var attributes = attributes
    let secret: SharedSecret
    guard certificate == nil || itemClass == .certificate else { throw .parameter }
    if itemClass == .certificate {
      let certificate = try certificateToAdd()
      attributes = try CertificateAttributes.stored(attributes, certificate)
      secret = SharedSecret(SecretBytes(Data(certificate.der)))
    } else if let key {
      guard itemClass == .key, self.secret == nil else { throw .parameter }
      attributes.merge(key.attributes) { own, _ in own }
      secret = try key.material()
    } else {
      secret = SharedSecret(SecretBytes(self.secret ?? Data()))
      if itemClass == .key { attributes.merge(KeyAttributes.read(attributes, secret.bytes)) { own, _ in own } }
    }
    for (name, isOther) in isOtherForm where isOther { attributes[name.mark] = .number(1) }
    let protection = try settledProtection() ?? .whenUnlocked
    attributes[.accessible] = .text(protection.rawValue)
    switch synchronizable {
    case nil, .no: break
    case .yes: attributes[.synchronizable] = .number(1)
    case .any: throw .parameter
    }
    var access = accessControl?.access ?? .none
    if let key, key.staysInVault { access = try access.with(.privateKeyUsage) }
    let item = NewItem(itemClass, attributes, access: access, accessibility: protection.accessibility)
    return (item, secret)
  }

  /// The protection that the query gives; nil if it gives none.
  ///
  /// - Throws: `errSecParam` for two protections, and for a constrained item that is to be synchronizable.
  func settledProtection() throws(KeychainFailure) -> Protection? {
    guard accessControl == nil || protection == nil else { throw .parameter }
    // "This device only" is allowed with synchronizable: Apple's call accepts it, and wrappers make such items.
    guard synchronizable != .yes || accessControl?.isConstrained != true else { throw .parameter }
    return accessControl?.protection ?? protection
  }
}

extension AccessControl {
  /// The same access control with one more flag.
  func with(_ flag: Flags) throws(KeychainFailure) -> AccessControl {
    do throws(VaultError) {
      return try AccessControl(flags.union(flag))
    } catch {
      throw KeychainFailure(error)
    }
  }
}

/// Finds items, and returns their secrets, attributes or references.
///
/// - Parameters:
///   - query: the conditions (at least a class or a reference), how many items to return, and what of them
///     (`kSecReturn…`). Without an access group, the program's own items come first and then the command line's.
///   - result: set to the oldest item if there is no limit or the limit is one; otherwise to an array, oldest first.
/// - Returns: `errSecItemNotFound` where there are none, `errSecParam` for an invalid query, or where `result` is nil
///   and something is to be returned.
///
/// The data of a certificate is its DER, and so is that of an identity, whose reference is a `SecIdentity`.
///
/// Returning protected secrets asks for one touch for all found items. Attributes and references ask for nothing.
/// Blocks the calling thread while a person is asked, so do not call it on the main thread.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(KeychainFailure) in
    if let identities = try IdentityQuery(query) { return try identities.copyMatching(result) }
    let query = try KeychainQuery(finding: query)
    guard query.returns.isEmpty || result != nil else { throw .parameter }
    let limit = query.countLimit
    let search = query.search(limit: limit)
    let (returns, context, reason) = (query.returns, query.context, query.reason)
    let released = Released(returns, of: query.itemClass)
    let found = try call { store throws(VaultError) -> [(item: Item, released: ReleasedItem?)]? in
      try await released.find(search, reason, context, in: store)
    }
    guard let found else { throw KeychainFailure(errSecUnimplemented) }
    guard let result, !returns.isEmpty else { return }
    let rows = try found.map { item, released throws(KeychainFailure) in
      ResultRow(
        item: item, secret: try ResultRow.Secret(released, of: item), returns: returns, context: context, reason: reason
      )
    }
    if limit == 1 {
      result.pointee = rows[0].object
    } else {
      result.pointee = ResultArray(rows)
    }
  }
}

/// The found items whose secrets are needed.
private enum Released {
  case none
  case all
  /// Certificates are also read for references, which contain the certificate itself.
  case certificates

  init(_ returns: KeychainQuery.Returns, of itemClass: ItemClass?) {
    switch (returns.contains(.data), returns.contains(.reference), itemClass) {
    case (true, _, _), (false, true, .certificate): self = .all
    case (false, true, nil): self = .certificates
    default: self = .none
    }
  }

  /// The items that a search finds, with the secrets that are needed. Nil where one of these is a key that never leaves
  /// the vault.
  func find(
    _ search: ItemSearch, _ reason: String?, _ context: AuthenticationContext?, in store: SecretStore
  ) async throws(VaultError) -> [(item: Item, released: ReleasedItem?)]? {
    guard self == .all else {
      let items = try await store.foundItems(search, using: context)
      let certificates = self == .certificates ? items.filter { $0.itemClass == .certificate }.map(\.id) : []
      let released = certificates.isEmpty ? [] : try await store.secrets(of: certificates, reason: reason)
      return items.map { item in (item, released.first { $0.id == item.id }) }
    }
    do throws(VaultError) {
      let released = try await store.secrets(search, reason: reason, using: context)
      guard !released.isEmpty else { throw .itemGone }
      return released.map { ($0.item, $0) }
    } catch .invalidRequest(let why) {
      let items = try await store.foundItems(search, using: context)
      guard items.contains(where: { $0.access.flags.contains(.privateKeyUsage) }) else { throw .invalidRequest(why) }
      return nil
    }
  }
}

/// Changes every item a query finds, all of them or none.
///
/// - Parameters:
///   - query: the conditions: at least a class or a reference. Without an access group, only the program's own items
///     are found. It cannot ask for results.
///   - attributesToUpdate: new attributes, and a new secret. An access control replaces the earlier one; a new
///     `kSecAttrAccessible` leaves the constraints as they are.
/// - Returns: `errSecItemNotFound` where there are none, `errSecDuplicateItem` where an item would get another's
///   primary attributes, `errSecUnimplemented` for identities: update their certificates and keys separately.
///
/// A protected item asks for the same as reading it does, with one touch for all of them.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  status { () throws(KeychainFailure) in
    guard try IdentityQuery(query) == nil else { throw KeychainFailure(errSecUnimplemented) }
    let query = try KeychainQuery(changing: query)
    guard query.returns.isEmpty else { throw .parameter }
    guard attributesToUpdate.object(forKey: kSecClass) == nil else { throw KeychainFailure(errSecNoSuchAttr) }
    let new = try KeychainQuery(attributesToUpdate, ofChangeTo: query.itemClass)
    let change = try new.change()
    let secret = new.secret.map { SharedSecret(SecretBytes($0)) }
    let search = query.search(limit: nil, changing: true)
    let (finding, context, reason) = (query.context, new.context ?? query.context, query.reason)
    let becomesSynchronizable = new.synchronizable == .yes
    // Passwords are found and changed in one call. For other items the change depends on the found items.
    let isPassword = [.genericPassword, .internetPassword].contains(query.itemClass)
    let asFound = isPassword && !becomesSynchronizable && new.context == nil
    try call { store throws(VaultError) in
      if asFound {
        return try await store.update(search, change, secret: secret, reason: reason, using: context)
      }
      let items = try await store.foundItems(search, using: finding)
      if becomesSynchronizable, change.access == nil, items.contains(where: { $0.access.isConstrained }) {
        throw .invalidRequest("a constrained item cannot be synchronizable")
      }
      try CertificateAttributes.check(change, replacesData: secret != nil, of: items)
      var change = change
      if let secret {
        let others = try KeyAttributes.changes(of: items, to: secret.bytes, beside: change)
        change.attributes.merge(others) { given, _ in given }
      }
      try await store.update(items.map(\.id), change, secret: secret?.copy(), reason: reason, using: context)
    }
  }
}

extension KeychainQuery {
  /// Reads a change of items of a class.
  fileprivate init(_ dictionary: CFDictionary, ofChangeTo itemClass: ItemClass?) throws(KeychainFailure) {
    try self.init(dictionary, assuming: itemClass)
    guard !mentionsMatching, returns.isEmpty, ids == nil, key == nil, certificate == nil else { throw .parameter }
  }

  fileprivate func change() throws(KeychainFailure) -> ItemChange {
    var change = ItemChange(attributes: attributes.mapValues { $0 })
    for (name, isOther) in isOtherForm { change.attributes[name.mark] = .some(isOther ? .number(1) : nil) }
    if let protection = try settledProtection() {
      change.accessibility = protection.accessibility
      change.attributes[.accessible] = .text(protection.rawValue)
    }
    change.access = accessControl?.access
    switch synchronizable {
    case nil: break
    case .no: change.attributes[.synchronizable] = .some(nil)
    case .yes: change.attributes[.synchronizable] = .number(1)
    case .any: throw .parameter
    }
    return change
  }
}

/// Removes every item a query finds, all of them or none. Never asks for anything.
///
/// For an identity, the certificate is removed, and the private key unless another certificate of the store belongs to
/// it.
///
/// - Parameter query: the conditions: at least a class or a reference. Without an access group, only the program's own
///   items are found.
/// - Returns: `errSecItemNotFound` where there are none, `errSecParam` for a query that names neither a class nor a
///   reference.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  status { () throws(KeychainFailure) in
    if let identities = try IdentityQuery(query) { return try identities.delete() }
    let search = try KeychainQuery(changing: query).unasked.search(limit: nil, changing: true)
    _ = try call { store throws(VaultError) in try await store.delete(search) }
  }
}
