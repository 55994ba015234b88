// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation
internal import SecretModel
internal import Whorl

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
