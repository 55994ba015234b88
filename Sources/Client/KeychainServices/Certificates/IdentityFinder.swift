internal import Foundation
internal import Keys
internal import SecretModel
internal import Whorl

/// An identity in the store.
struct StoredIdentity: Sendable {
  let certificate: Item
  let key: Item
}

/// A search for identities on its way.
///
/// Sendable, for the thread that does the work is not known to the compiler.
struct IdentityFinder: Sendable {
  private let certificates: ItemFinder
  private let keys: ItemFinder
  /// Says which of the keys found may be returned.
  private let interaction: ItemFinder
  private let limit: Int?

  /// - Parameter changing: whether the identities are to be deleted, which without an access group are the program's own
  ///   alone.
  init(_ query: IdentityQuery, limit: Int?, changing: Bool = false) {
    // A key that is found and belongs to no certificate is nobody's business: only those of identities are looked at.
    func unasked(_ query: KeychainQuery) -> ItemFinder {
      var query = query
      query.interaction = .allow
      query.context = nil
      return ItemFinder(query, limit: nil, changing: changing)
    }
    certificates = unasked(query.certificates)
    keys = unasked(query.keys)
    interaction = ItemFinder(query.keys, limit: nil)
    self.limit = limit
  }

  /// The identities meant; those of the oldest certificate first.
  ///
  /// - Throws: `itemGone` where there are none, `interactionNotAllowed` where a key would ask and may not.
  func identities(in store: SecretStore) async throws(VaultError) -> [StoredIdentity] {
    let keys = try await keys.items(in: store).filter { $0.attributes[.keyClass] == .text("1") }
    let byLabel = Dictionary(grouping: keys) { $0.attributes[.applicationLabel] }
    var found: [StoredIdentity] = []
    for certificate in try await certificates.items(in: store) {
      guard let hash = certificate.attributes[.publicKeyHash] else { continue }
      for key in byLabel[hash] ?? [] where try await interaction.mayReturn(key, from: store) {
        found.append(StoredIdentity(certificate: certificate, key: key))
        if found.count == limit { return found }
      }
    }
    guard !found.isEmpty else { throw .itemGone }
    return found
  }

  /// What is deleted with identities: their certificates, and the keys that no other certificate of the store needs.
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
