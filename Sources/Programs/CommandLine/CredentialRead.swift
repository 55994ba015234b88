import SecretModel
import Whorl

extension Session {
  /// The secret of an item for a program that keeps its credentials here. Asks only where somebody has to be asked.
  func secret(
    of item: Item, from store: any VaultService, reason: String, noPrompt: Bool
  ) async throws(Failure) -> ReleasedItem {
    do throws(VaultError) {
      return try await store.secrets(.ids([item.id]), .nobody)[0]
    } catch .interactionNotAllowed {
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
