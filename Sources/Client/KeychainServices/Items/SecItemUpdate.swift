// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import SecretModel
internal import SecureMemory
internal import Whorl

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
