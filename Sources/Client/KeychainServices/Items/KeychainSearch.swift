internal import Foundation
internal import SecretModel
internal import Whorl

extension KeychainQuery {
  /// The search this query stands for. An access control is no condition; when the item is accessible is.
  ///
  /// - Parameters:
  ///   - limit: the most items wanted; nil for all.
  ///   - changing: whether the items are to be changed or deleted, which without an access group are the program's own
  ///     alone.
  func search(limit: Int?, changing: Bool = false) -> ItemSearch {
    var conditions = attributes
    if let protection { conditions[.accessible] = .text(protection.rawValue) }
    var ids = ids
    for condition in referenceConditions {
      // What contradicts the reference finds nothing.
      if let given = conditions[condition.key], given != condition.value { ids = [] }
      conditions[condition.key] = condition.value
    }
    var search = ItemSearch(
      // A reference names its item, synchronizable or not: programs read secrets by references they have listed.
      itemClass, conditions, ids: ids, synchronizable: synchronizable ?? (ids == nil ? .no : .any),
      ignoresCase: ignoresCase, limit: limit)
    search.created = created?.timeIntervalSince1970
    search.modified = modified?.timeIntervalSince1970
    search.interaction = effectiveInteraction
    return changing ? search.forChanging : search
  }

  /// What an item has to have to be what the query refers to.
  private var referenceConditions: [AttributeName: AttributeValue] {
    var conditions = certificate.map(CertificateAttributes.conditions) ?? [:]
    if let key {
      conditions[.applicationLabel] = .bytes(key.publicLabel)
      conditions[.keyClass] = .text(key.isPrivate ? "1" : "0")
    }
    return conditions
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
  private var effectiveInteraction: ItemSearch.Interaction {
    if interaction == .allow, context?.options.interactionNotAllowed == true { return .fail }
    return interaction
  }

  /// The same query, in which nobody is asked for anything, and so nothing is left out.
  var unasked: KeychainQuery {
    var query = self
    query.interaction = .allow
    query.context = nil
    return query
  }
}

extension SecretStore {
  /// The items a search means, oldest first, of which there is at least one.
  ///
  /// - Throws: `itemGone` where there are none, `interactionNotAllowed` where one would ask and may not.
  func foundItems(_ search: ItemSearch, using context: AuthenticationContext? = nil) async throws(VaultError) -> [Item]
  {
    let found = try await items(search, using: context)
    guard !found.isEmpty else { throw .itemGone }
    return found
  }
}
