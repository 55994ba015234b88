package import SecretModel

/// The collections, programs and items of the Secret Service in a store, without the secrets.
package struct SecretServiceContents: Sendable {
  /// The usual collection, then the others by name: those with a record, and those that only items name.
  package let collections: [SecretServiceFolder]
  /// The programs with a record, by path.
  package let programs: [SecretServiceFolder]
  /// By collection, label and age.
  package let items: [SecretServiceItem]

  /// Reads everything. Asks nobody.
  ///
  /// - Parameter states: of the items.
  package init(of store: any VaultService, _ states: Set<Item.State> = [.living]) async throws(VaultError) {
    var search = SecretServiceItem.search()
    search.states = states
    let items = try await store.allItems(search).compactMap(SecretServiceItem.init)
    var folders: [SecretServiceFolder] = []
    for kind in SecretServiceFolder.Kind.allCases {
      folders += try await store.allItems(SecretServiceFolder.search(kind)).compactMap(SecretServiceFolder.init)
    }
    programs = folders.filter { $0.kind == .program }.sorted { $0.name < $1.name }
    var known: [String: SecretServiceFolder] = [:]
    for name in items.map(\.collection) { known[name] = SecretServiceFolder(.collection, name) }
    known[SecretServiceFolder.usualCollection] = .usual
    for folder in folders where folder.kind == .collection { known[folder.name] = folder }
    func order(_ collection: String) -> (Int, String) {
      (collection == SecretServiceFolder.usualCollection ? 0 : 1, collection)
    }
    collections = known.values.sorted { order($0.name) < order($1.name) }
    self.items = items.sorted {
      ($0.collection == $1.collection)
        ? ($0.label, $0.created) < ($1.label, $1.created) : order($0.collection) < order($1.collection)
    }
  }

  /// The collection of this name, or else the only one of this label.
  package func collection(called word: String) -> SecretServiceFolder? {
    if let named = collections.first(where: { $0.name == word }) { return named }
    let labelled = collections.filter { $0.label == word }
    return labelled.count == 1 ? labelled[0] : nil
  }
}

extension SecretServiceFolder {
  /// The collection of items that end with the session, before the store has a record of it.
  package static let session = SecretServiceFolder(.collection, sessionCollection, label: sessionLabel)

  /// The usual collection, before the store has a record of it.
  package static let usual = SecretServiceFolder(.collection, usualCollection, label: usualLabel)
}
