internal import SecretModel
internal import SecureMemory

/// The result of adding an item to a store that may have it already.
enum Arrival {
  case added
  /// The store has an item with the same primary attributes, which stays unchanged.
  case alreadyThere
}

extension VaultService {
  /// Adds an item if the store has none with the same primary attributes. Shows no prompt.
  func bringIn(_ item: NewItem, secret: consuming SecretBytes) async throws(VaultError) -> Arrival {
    do throws(VaultError) {
      if item.itemClass == .passkey {
        _ = try await addKey(item, from: .passkey(SharedSecret(secret)))
      } else {
        _ = try await add(item, secret: secret, replacing: false, .nobody)
      }
      return .added
    } catch .duplicateItem {
      return .alreadyThere
    }
  }

  /// Adds a passkey, and returns the error if the store refuses it.
  ///
  /// - Throws: errors that prevent storing any item.
  func refusal(of passkey: NewItem, _ secret: SharedSecret) async throws(VaultError) -> VaultError? {
    do throws(VaultError) {
      return try await bringIn(passkey, secret: secret.copy()) == .added ? nil : .duplicateItem
    } catch {
      guard error.concernsNewItem else { throw error }
      return error
    }
  }
}
