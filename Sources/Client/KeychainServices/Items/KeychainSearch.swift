internal import Foundation
internal import SecretModel
internal import Whorl

extension KeychainQuery {
  /// The search this query stands for. An access control is no condition; when the item is accessible is.
  func search(limit: Int?) -> ItemSearch {
    var conditions = attributes
    if let protection { conditions[.accessible] = .text(protection.rawValue) }
    if let key {
      conditions[.applicationLabel] = .bytes(key.publicLabel)
      conditions[.keyClass] = .text(key.isPrivate ? "1" : "0")
    }
    // A condition that contradicts the certificate finds nothing: its digest meets no other.
    if let certificate { conditions.merge(CertificateAttributes.conditions(certificate)) { given, _ in given } }
    return ItemSearch(
      // A reference names its item, synchronizable or not: programs read secrets by references they have listed.
      itemClass, conditions, ids: ids, synchronizable: synchronizable ?? (ids == nil ? .no : .any),
      ignoresCase: ignoresCase,
      // Dates are looked at afterwards.
      limit: created == nil && modified == nil ? limit : nil)
  }

  /// The most items wanted of a search; nil for all.
  var countLimit: Int? {
    switch limit ?? .one {
    case .one: 1
    case .some(let count): count
    case .all: nil
    }
  }

  /// What is to be done about an item that asks for somebody; a context that may not ask counts as `fail`.
  var effectiveInteraction: Interaction {
    if interaction == .allow, context?.options.interactionNotAllowed == true { return .fail }
    return interaction
  }
}

/// A search on its way: what a query means in a store, and who may be asked.
///
/// Sendable, for the thread that does the work is not known to the compiler.
struct ItemFinder: Sendable {
  let search: ItemSearch
  let created: Date?
  let modified: Date?
  let interaction: KeychainQuery.Interaction
  let context: AuthenticationContext?
  let limit: Int?

  /// - Parameter changing: whether the items are to be changed or deleted, which without an access group are the
  ///   program's own alone.
  init(_ query: KeychainQuery, limit: Int?, changing: Bool = false) {
    interaction = query.effectiveInteraction
    self.limit = limit
    // What is skipped does not count.
    let search = query.search(limit: interaction == .skip ? nil : limit)
    self.search = changing ? search.forChanging : search
    (created, modified) = (query.created, query.modified)
    context = query.context
  }

  /// The items meant, oldest first.
  ///
  /// - Throws: `itemGone` where there are none, `interactionNotAllowed` where one would ask and may not.
  func items(in store: SecretStore) async throws(VaultError) -> [Item] {
    var found: [Item] = []
    for item in try await store.items(search) where hasDates(item) {
      guard try await mayReturn(item, from: store) else { continue }
      found.append(item)
      if found.count == limit { break }
    }
    guard !found.isEmpty else { throw .itemGone }
    return found
  }

  /// Whether an item that is found is returned, rather than skipped because it would ask.
  ///
  /// - Throws: `interactionNotAllowed` where it would ask and may not.
  func mayReturn(_ item: Item, from store: SecretStore) async throws(VaultError) -> Bool {
    guard item.access.isConstrained, interaction != .allow else { return true }
    if try await store.isSatisfied(item, by: context) { return true }
    guard interaction == .skip else { throw .interactionNotAllowed }
    return false
  }

  /// Whether the item is of the dates the query names.
  func hasDates(_ item: Item) -> Bool {
    Self.isSame(item.created, created) && Self.isSame(item.modified, modified)
  }

  /// Dates come back to the microsecond.
  private static func isSame(_ seconds: Double, _ wanted: Date?) -> Bool {
    wanted.map { abs($0.timeIntervalSince1970 - seconds) < 1e-3 } ?? true
  }
}
