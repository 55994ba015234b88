package import SecretModel
package import Whorl

/// A key that stays in the vault, and whose public half other programs get.
package protocol StoredKey: Sendable {
  /// What a message calls one.
  static var kind: String { get }
  /// The command that lists them.
  static var listing: String { get }

  /// Nil for an item that is no such key.
  init?(_ item: Item)
  /// The search for these keys in one of the states.
  static func search(_ states: Set<Item.State>) -> ItemSearch

  var id: ItemID { get }
  var name: String { get }
  /// The public half, as other programs read it.
  var publicText: String { get }
}

extension SSHKey: StoredKey {
  package static let kind = "SSH key"
  package static let listing = "whorl ssh list"
  package var publicText: String { line }
}

/// The keys of one kind in a store.
package struct StoredKeys<Key: StoredKey> {
  private let store: SecretStore

  package init(in store: SecretStore) { self.store = store }

  /// All keys, oldest first.
  package func all(_ states: Set<Item.State> = [.living]) async throws(Failure) -> [Key] {
    let items = try await store.call { vault throws(Failure) in
      do throws(VaultError) { return try await vault.allItems(Key.search(states)) } catch { throw Failure(error) }
    }
    return items.compactMap(Key.init)
  }

  /// The keys that the words name: each the name of one key, its id or its public half.
  package func named(_ names: [String], _ states: Set<Item.State> = [.living]) async throws(Failure) -> [Key] {
    let all = try await all(states)
    var chosen: [Key] = []
    for name in names {
      let found = all.filter { $0.id == ItemID(spoken: name) || $0.name == name || $0.publicText == name }
      guard let key = found.first else {
        throw Failure(
          .notFound, "no \(Key.kind) \(name)", name: "errSecItemNotFound",
          advice: "'\(Key.listing)' lists what there is")
      }
      guard found.count == 1 else {
        let ids = found.map(\.id.spoken).joined(separator: ", ")
        var failure = Failure.usage(
          "\(name) means several keys", advice: "name one by its id, which '\(Key.listing)' shows")
        failure.detail = ids
        throw failure
      }
      chosen.append(key)
    }
    return chosen
  }
}
