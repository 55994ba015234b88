package import Primitives
package import SecretModel

/// The login entries of a store: the secrets to hand over when its user logs in. Only sealing under the passcode shows
/// a prompt.
package struct LoginEntries: Sendable {
  let vault: any VaultService

  package init(in vault: any VaultService) { self.vault = vault }

  /// All entries, or those of one kind, with their items.
  package func all(of kind: LoginItem.Kind? = nil) async throws(VaultError) -> [(entry: LoginItem, item: Item)] {
    try await vault.allItems(ItemSearch(loginItemsOf: kind)).compactMap { item in
      LoginItem(item).map { ($0, item) }
    }
  }

  /// Whether the store has this entry.
  package func has(_ entry: LoginItem) async throws(VaultError) -> Bool {
    try await !vault.allItems(ItemSearch(entry)).isEmpty
  }

  /// The secret to hand over for an entry: its own, or that of the item it names. Nil if there is no such entry.
  ///
  /// - Throws: `notUnlocked` while the item's class is locked, `itemGone` if the item it names is gone.
  package func secret(of entry: LoginItem) async throws(VaultError) -> SharedSecret? {
    guard let found = try await vault.secrets(.search(ItemSearch(entry)), .nobody).first else { return nil }
    guard let source = LoginItem(found.item)?.source else { return SharedSecret(found.secret.copy()) }
    guard let item = try await vault.secrets(.ids([source]), .nobody).first else { throw .itemGone }
    return SharedSecret(item.secret.copy())
  }

  /// Stores an entry. One of the same kind and name is replaced.
  package func put(_ entry: LoginItem, secret: borrowing SecretBytes) async throws(VaultError) {
    _ = try await vault.add(NewItem(entry), secret: secret.copy(), replacing: true, .nobody)
  }

  /// Removes an entry. Does nothing if it is gone already.
  package func remove(_ entry: LoginItem) async throws(VaultError) {
    do throws(VaultError) {
      _ = try await vault.delete(.search(ItemSearch(entry)))
    } catch .itemGone {
      return
    }
  }

  /// The sealed copy to keep beside a wallet, from which its secret can be recovered without this store.
  ///
  /// - Parameter asking: who is asked for the passcode, for a copy that is sealed under it.
  package func sealedCopy(
    of secret: borrowing SecretBytes, under keys: SealedCopy.Keys, _ asking: Asking = .nobody
  ) async throws(VaultError) -> SealedCopy {
    try await vault.sealCopy(of: secret.copy(), under: keys, replacing: nil, asking)
  }

  /// A new sealed copy to keep beside a wallet. Shows no prompt: if the earlier copy is sealed under a passcode that
  /// has changed since, the new one is sealed under the recovery key only.
  package func renewedCopy(
    of secret: borrowing SecretBytes, replacing old: SealedCopy?
  ) async throws(VaultError) -> SealedCopy {
    do throws(VaultError) {
      return try await vault.sealCopy(of: secret.copy(), under: old?.keys ?? .recoveryKey, replacing: old, .nobody)
    } catch .interactionNotAllowed {
      return try await sealedCopy(of: secret, under: .recoveryKey)
    }
  }
}
