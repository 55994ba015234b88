internal import SDBus
internal import SecretModel
internal import SecureMemory
internal import Whorl

/// Reads the secret of one item for a client.
struct ItemRead {
  let call: CallContext
  let collection: String
  let name: String

  /// The item with its secret.
  ///
  /// - Parameter waits: whether to ask the person where the item has a rule.
  /// - Throws: `isLocked` where the person did not answer in time.
  func released(waits: Bool) async throws(ServiceError) -> ReleasedItem {
    guard !call.locks.isLocked(collection: collection) else { throw .isLocked }
    let released: ReleasedItem
    do throws(VaultError) {
      released = try await read(waits: waits)
    } catch {
      throw ServiceError(error)
    }
    if let item = SecretServiceItem(released.item), call.locks.isLocked(item) { throw .isLocked }
    return released
  }

  private func read(waits: Bool) async throws(VaultError) -> ReleasedItem {
    // If the program has a rule, it must be satisfied before any item is read.
    guard try await call.client.rule.current() == nil else { return try await gated(waits: waits) }
    do throws(VaultError) {
      return try await call.keeper.secret(name, in: collection)
    } catch .interactionNotAllowed {
      return try await gated(waits: waits)
    }
  }

  private func gated(waits: Bool) async throws(VaultError) -> ReleasedItem {
    let item: SecretServiceItem
    do throws(ServiceError) {
      item = try await call.keeper.item(name, in: collection)
    } catch {
      throw .itemGone
    }
    let reads = call.client.reads
    if let granted = reads.granted(item) {
      do throws(VaultError) {
        return try await secret(of: item, granted)
      } catch .interactionNotAllowed, .contextInvalidated, .systemCancelled {
        // The fingers have changed, or the vault was restarted: the earlier touch is no longer valid.
        reads.forget(item.id)
        call.desk.forget(item.id)
      }
    }
    guard waits else { throw .interactionNotAllowed }
    return try await secret(of: item, try await reads.context(for: item))
  }

  private func secret(of item: SecretServiceItem, _ context: AuthenticationContext) async throws(VaultError)
    -> ReleasedItem
  {
    guard let released = try await call.keeper.store.secrets(of: [item.id], using: context).first else {
      throw .itemGone
    }
    return released
  }

  /// The secret as a structure of the API.
  func encoded(_ released: ReleasedItem, _ session: TransferSession, path: String) throws(ServiceError) -> BusValue {
    let type = SecretServiceItem(released.item)?.contentType ?? SecretServiceItem.usualContentType
    return try session.encode(SharedSecret(released.secret.copy()), type, session: path)
  }
}
