// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import SecretModel
internal import Whorl

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
