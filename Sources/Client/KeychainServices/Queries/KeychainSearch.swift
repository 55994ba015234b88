internal import Foundation
internal import SecretModel
internal import Whorl

extension KeychainQuery {
  /// The search for this query. The accessibility is a condition, the access control is not.
  ///
  /// - Parameters:
  ///   - limit: the most items to find; nil for all.
  ///   - changing: whether the items are to be changed or deleted. Without an access group, only the program's own are
  ///     found then.
  func search(limit: Int?, changing: Bool = false) -> ItemSearch {
    var conditions = attributes
    if let protection { conditions[.accessible] = .text(protection.rawValue) }
    var ids = ids
    for condition in referenceConditions {
      // A condition that contradicts the reference finds nothing.
      if let given = conditions[condition.key], given != condition.value { ids = [] }
      conditions[condition.key] = condition.value
    }
    var search = ItemSearch(
      // A reference finds its item whether synchronizable or not: programs read secrets by references from a list.
      itemClass, conditions, ids: ids, synchronizable: synchronizable ?? (ids == nil ? .no : .any),
      ignoresCase: ignoresCase, limit: limit)
    search.created = created?.timeIntervalSince1970
    search.modified = modified?.timeIntervalSince1970
    search.interaction = effectiveInteraction
    return changing ? search.forChanging : search
  }

  /// The attributes of the item that the query refers to.
  private var referenceConditions: [AttributeName: AttributeValue] {
    var conditions = certificate.map(CertificateAttributes.conditions) ?? [:]
    if let key {
      conditions[.applicationLabel] = .bytes(key.publicLabel)
      conditions[.keyClass] = .text(key.isPrivate ? "1" : "0")
    }
    return conditions
  }

  /// The most items that the search finds; nil for all.
  var countLimit: Int? {
    switch limit ?? .one {
    case .one: 1
    case .some(let count): count
    case .all: nil
    }
  }

  /// How to treat an item that would ask a person. With a context that must not ask, this is `fail`.
  private var effectiveInteraction: ItemSearch.Interaction {
    if interaction == .allow, context?.options.interactionNotAllowed == true { return .fail }
    return interaction
  }

  /// The same query without interaction or context, so that no item is skipped.
  var unasked: KeychainQuery {
    var query = self
    query.interaction = .allow
    query.context = nil
    return query
  }
}

extension SecretStore {
  /// The items that a search finds, oldest first. Throws if there is none.
  ///
  /// - Throws: `itemGone` where there are none, `interactionNotAllowed` where one would ask and that is not allowed.
  func foundItems(_ search: ItemSearch, using context: AuthenticationContext? = nil) async throws(VaultError) -> [Item]
  {
    let found = try await items(search, using: context)
    guard !found.isEmpty else { throw .itemGone }
    return found
  }
}
