import SecretModel
import Whorl

extension Session {
  /// The secret of an item for a program that stores its credentials here. Prompts only if needed. Unlocks a store that
  /// still needs its first unlock, and asks again if the vault ends meanwhile, since nobody would see advice from a
  /// helper of git.
  func secret(
    of item: Item, from store: any VaultService, reason: String, noPrompt: Bool
  ) async throws(Failure) -> ReleasedItem {
    do throws(Failure) {
      return try await released(item, from: store, reason: reason, noPrompt: noPrompt)
    } catch  where error.vaultHasEnded {
      await close()
      return try await released(item, from: try await self.store(), reason: reason, noPrompt: noPrompt)
    }
  }

  private func released(
    _ item: Item, from store: any VaultService, reason: String, noPrompt: Bool
  ) async throws(Failure) -> ReleasedItem {
    do throws(VaultError) {
      return try await store.secrets(.ids([item.id]), .nobody)[0]
    } catch .interactionNotAllowed, .notUnlocked {
    } catch {
      throw explained(error)
    }
    var asked = contextOptions
    asked.interactionNotAllowed = noPrompt
    return try await asking(store, answers(noPrompt: noPrompt), options: asked, reason: reason) {
      try await store.secrets(.ids([item.id]), $0)[0]
    }
  }
}
