// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import Vault
internal import Whorl

/// Finds items, and returns their secrets, attributes or references.
///
/// - Parameters:
///   - query: what they are like (a class or a reference at least), how many are wanted, and what of them
///     (`kSecReturn…`). Without an access group, the program's own items come first and then the command line's.
///   - result: gets the one item, the oldest, where no limit or one is given; otherwise an array, oldest first.
/// - Returns: `errSecItemNotFound` where there are none, `errSecParam` for a query that makes no sense or where something
///   is to be returned and there is no place for it.
///
/// A secret that is protected is asked for: one touch for all that are found. Attributes and references ask for nothing.
/// Blocks the calling thread while somebody is asked; not for the main thread.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(KeychainFailure) in
    let query = try KeychainQuery(finding: query)
    guard query.returns.isEmpty || result != nil else { throw .parameter }
    let limit: Int? =
      switch query.limit ?? .one {
      case .one: 1
      case .some(let count): count
      case .all: nil
      }
    let finder = ItemFinder(query, limit: limit)
    let (returns, context, reason) = (query.returns, query.context, query.reason)
    let rows: [ResultRow]? = try call { store throws(VaultError) in
      let items = try await finder.items(in: store)
      guard returns.contains(.data) else {
        return items.map {
          ResultRow(item: $0, secret: .none, returns: returns, context: context, reason: reason)
        }
      }
      // A key that is only used in the vault is nobody's data.
      guard !items.contains(where: { $0.access.flags.contains(.privateKeyUsage) }) else { return nil }
      let released = try await store.secrets(of: items.map(\.id), reason: reason, using: context)
      return zip(items, released).map {
        ResultRow(item: $0, secret: .released($1), returns: returns, context: context, reason: reason)
      }
    }
    guard let rows else { throw KeychainFailure(errSecUnimplemented) }
    guard let result, !returns.isEmpty else { return }
    if limit == 1 {
      result.pointee = rows[0].object
    } else {
      result.pointee = ResultArray(rows)
    }
  }
}
