package import SecretModel
package import Whorl

/// The keys for SSH in a store.
package struct StoredSSHKeys {
  package let store: SecretStore

  package init(in store: SecretStore) { self.store = store }

  /// All keys, oldest first.
  package func all(_ states: Set<Item.State> = [.living]) async throws(Failure) -> [SSHKey] {
    let items = try await store.call { vault throws(Failure) in
      do throws(VaultError) { return try await vault.allItems(SSHKey.search(states)) } catch { throw Failure(error) }
    }
    return items.compactMap(SSHKey.init)
  }

  /// The keys that the words name: each the name of one key, or its id.
  package func named(_ names: [String], _ states: Set<Item.State> = [.living]) async throws(Failure) -> [SSHKey] {
    let all = try await all(states)
    var chosen: [SSHKey] = []
    for name in names {
      let found = all.filter { $0.id == ItemID(spoken: name) || $0.name == name }
      guard let key = found.first else {
        throw Failure(
          .notFound, "no SSH key \(name)", name: "errSecItemNotFound", advice: "'whorl ssh list' lists what there is")
      }
      guard found.count == 1 else {
        let ids = found.map(\.id.spoken).joined(separator: ", ")
        var failure = Failure.usage(
          "\(name) means several keys", advice: "name one by its id, which 'whorl ssh list' shows")
        failure.detail = ids
        throw failure
      }
      chosen.append(key)
    }
    return chosen
  }
}
