// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import Vault
internal import Whorl

/// Removes every item a query finds, all of them or none. Never asks for anything.
///
/// - Returns: `errSecItemNotFound` where there are none.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  status { () throws(KeychainFailure) in
    var query = try KeychainQuery(query)
    guard query.interaction != .skip, query.limit == nil || query.limit == .all else { throw .parameter }
    // Nobody is asked, so that there is nothing to fail.
    query.interaction = .allow
    query.context = nil
    let finder = ItemFinder(query, limit: nil)
    try call { store throws(VaultError) in
      _ = try await store.delete(finder.search) { finder.hasDates($0) }
    }
  }
}
