internal import Foundation
internal import Keys
internal import SecretModel
internal import Whorl

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
