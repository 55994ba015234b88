internal import SecretModel
internal import SecureMemory

/// The result of adding an item to a store that may have it already.
enum Arrival {
  case added
  /// The store has an item with the same primary attributes, which stays unchanged.
  case alreadyThere
}

extension VaultService {
  /// Adds an item if the store has none with the same primary attributes. Asks nobody.
  func bringIn(_ item: NewItem, secret: consuming SecretBytes) async throws(VaultError) -> Arrival {
    do throws(VaultError) {
      _ = try await add(item, secret: secret, replacing: false, .nobody)
      return .added
    } catch .duplicateItem {
      return .alreadyThere
    }
  }
}
