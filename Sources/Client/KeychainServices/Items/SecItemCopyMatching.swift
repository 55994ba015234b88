// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import SecretModel
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
/// The data of a certificate is its DER, and so is that of an identity, whose reference is a `SecIdentity`.
///
/// A secret that is protected is asked for: one touch for all that are found. Attributes and references ask for nothing.
/// Blocks the calling thread while somebody is asked; not for the main thread.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  status { () throws(KeychainFailure) in
    if let identities = try IdentityQuery(query) { return try identities.copyMatching(result) }
    let query = try KeychainQuery(finding: query)
    guard query.returns.isEmpty || result != nil else { throw .parameter }
    let limit = query.countLimit
    let finder = ItemFinder(query, limit: limit)
    let (returns, context, reason) = (query.returns, query.context, query.reason)
    let found: [(item: Item, released: ReleasedItem?)]? = try call { store throws(VaultError) in
      let items = try await finder.items(in: store)
      // A certificate is read for its reference, too: that is the certificate itself.
      let read = items.filter {
        returns.contains(.data) || (returns.contains(.reference) && $0.itemClass == .certificate)
      }
      guard !read.isEmpty else { return items.map { ($0, nil) } }
      // A key that is only used in the vault is nobody's data.
      guard !read.contains(where: { $0.access.flags.contains(.privateKeyUsage) }) else { return nil }
      let released = try await store.secrets(of: read.map(\.id), reason: reason, using: context)
      let byItem = Dictionary(zip(read.map(\.id), released)) { $1 }
      return items.map { ($0, byItem[$0.id]) }
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
