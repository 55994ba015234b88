import SecretModel

/// Finds the items with a name, of any class and access group, with the store's indexes. Listing all items takes
/// seconds in a large store.
struct ItemsByName {
  let options: ItemOptions
  /// Runs a search.
  let find: (ItemSearch) async throws(Failure) -> [Item]

  /// The items whose name is this text, or whose service or server it is; oldest first.
  func items(called text: String) async throws(Failure) -> [Item] {
    var found: [ItemID: Item] = [:]
    for search in searches(for: text) {
      for item in try await find(search) { found[item.id] = item }
    }
    guard found.isEmpty else { return found.values.sorted { $0.created < $1.created } }
    // The displayed name may stand for bytes, such as an account given as data, which no index has as text. Search all
    // items.
    return try await find(options.search)
  }

  /// Searches by indexed attributes. Their results may have other names.
  private func searches(for text: String) -> [ItemSearch] {
    let classes = options.itemClass.map { [$0] } ?? ItemClass.allCases
    return classes.flatMap { itemClass in
      attributes(of: itemClass, for: text).map { attributes in
        var search = options.search
        search.itemClass = itemClass
        search.attributes = attributes
        return search
      }
    }
  }

  private func attributes(of itemClass: ItemClass, for text: String) -> [[AttributeName: AttributeValue]] {
    let place: AttributeName
    switch itemClass {
    case .genericPassword: place = .service
    case .internetPassword: place = .server
    case .key:
      return [[.label: .text(text)], [.applicationTag: .text(text)], [.applicationTag: .bytes(Array(text.utf8))]]
    case .certificate: return [[.label: .text(text)]]
    case .passkey: place = .relyingParty
    }
    var attributes: [[AttributeName: AttributeValue]] = [[place: .text(text)], [.label: .text(text)]]
    if let name = try? ItemName(parsing: text), !name.account.isEmpty {
      // Clients may give an account as data.
      for account in [AttributeValue.text(name.account), .bytes(Array(name.account.utf8))] {
        attributes.append([place: .text(name.service), .account: account])
      }
    }
    return attributes
  }
}
