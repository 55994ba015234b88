internal import Primitives
internal import SDBus
internal import SecretModel
internal import Whorl

/// Reads the secret of one item for a client.
struct ItemRead {
  let call: CallContext
  let collection: String
  let name: String

  /// How many items are read by one call of the vault.
  private static let together = 64

  /// Reads those of several items that need no prompt: items without a rule, and items with an earlier touch. Searches
  /// use this, and must not wait for a person.
  ///
  /// - Parameter take: called for each item; may throw to stop.
  static func each(
    _ reads: [ItemRead], for call: CallContext, _ take: (ReleasedItem) throws(ServiceError) -> Void
  ) async throws(ServiceError) {
    let hasRule: Bool
    do throws(VaultError) { hasRule = try await call.client.rule.current() != nil } catch { throw ServiceError(error) }
    let reads = reads.filter { !call.locks.isLocked(collection: $0.collection) }
    for start in stride(from: 0, to: reads.count, by: together) {
      let some = reads[start..<min(start + together, reads.count)]
      var open: [ReleasedItem] = []
      do throws(VaultError) {
        if !hasRule { open = try await call.keeper.openSecrets(some.map { ($0.collection, $0.name) }) }
      } catch {
        throw ServiceError(error)
      }
      var given: Set<ObjectPath> = []
      for released in open {
        guard let item = SecretServiceItem(released.item), !call.locks.isLocked(item) else { continue }
        given.insert(item.path)
        try take(released)
      }
      for read in some where !given.contains(.item(collection: read.collection, name: read.name)) {
        do throws(ServiceError) {
          // The vault did not include it in the open ones.
          try take(
            try await read.unlessLocked { () async throws(VaultError) in
              try await read.gated(hasRule: hasRule, waits: false)
            })
        } catch .isLocked, .noSuchObject, .unreadable {
          continue
        }
      }
    }
  }

  /// The item with its secret.
  ///
  /// - Parameter waits: whether to ask the person if the item has a rule.
  /// - Throws: `isLocked` if the person did not answer in time.
  func released(waits: Bool) async throws(ServiceError) -> ReleasedItem {
    try await unlessLocked { () async throws(VaultError) in try await read(waits: waits) }
  }

  /// The result of `read`, unless a program has locked the item.
  private func unlessLocked(
    _ read: () async throws(VaultError) -> ReleasedItem
  ) async throws(ServiceError) -> ReleasedItem {
    guard !call.locks.isLocked(collection: collection) else { throw .isLocked }
    let released: ReleasedItem
    do throws(VaultError) {
      released = try await read()
    } catch {
      throw ServiceError(error)
    }
    if !call.locks.areOpen, let item = SecretServiceItem(released.item), call.locks.isLocked(item) { throw .isLocked }
    return released
  }

  private func read(waits: Bool) async throws(VaultError) -> ReleasedItem {
    // If the program has a rule, it must be satisfied before any item is read.
    let hasRule = try await call.client.rule.current() != nil
    if !hasRule, let open = try await call.keeper.openSecrets([(collection, name)]).first { return open }
    return try await gated(hasRule: hasRule, waits: waits)
  }

  /// Reads an item that is not open, because it or the program has a rule.
  private func gated(hasRule: Bool, waits: Bool) async throws(VaultError) -> ReleasedItem {
    let search = SecretServiceItem.search(named: name, in: collection)
    let found = try await call.keeper.store.items(search).first
    guard let item = found.flatMap(SecretServiceItem.init) else { throw .itemGone }
    guard hasRule || item.isGated else {
      // An item without a rule is not open because the vault is locked, or for a reason that the read below throws.
      guard waits, try await !call.keeper.store.awaitsFirstUnlock() else { throw .interactionNotAllowed }
      return try await secret(of: item, call.keeper.silentContext())
    }
    return try await call.touched(item, waits: waits) { context, released throws(VaultError) in
      if let released { return released }
      return try await secret(of: item, context)
    }
  }

  private func secret(of item: SecretServiceItem, _ context: AuthenticationContext) async throws(VaultError)
    -> ReleasedItem
  {
    guard let released = try await call.keeper.store.secrets(of: [item.id], using: context).first else {
      throw .itemGone
    }
    return released
  }
}
