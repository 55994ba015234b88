// VaultItems: the items of a store. Begin with `ItemCatalogue`, through which the vault finds, adds, releases and changes
// them; `ItemRelease` consumes the evidence that Presence made. `Sync…` and `Arrival` are the items of a circle.

import GRDB
import Keys
package import Presence
package import Primitives
@_exported public import SecretModel
import Synchronization
package import VaultStore

/// Finds, stores, changes and removes the items of a store. The caller must have asked the person for what the items
/// require.
package struct ItemCatalogue {
  let store: Store
  let fingers: CurrentFingers
  let passcodes: Passcodes
  let passkeyCount = PasskeyCount()
  private let passwords: ApplicationPasswords

  package init(store: Store, fingers: CurrentFingers, passcodes: Passcodes, scrypt: ScryptQueue) {
    self.store = store
    self.fingers = fingers
    self.passcodes = passcodes
    passwords = ApplicationPasswords(store: store, scrypt: scrypt)
  }

  /// The items of a request, before anybody is asked.
  package enum Found {
    /// They require nothing, and were released in the same transaction.
    case released([ReleasedItem])
    case protected([WantedItem])
  }

  /// The items that a search finds, a page at a time.
  package func page(_ search: ItemSearch, _ context: Context?) throws(VaultError) -> ItemPage {
    try store.read { snapshot in try ItemSearcher(snapshot).page(search, EarlierProofs(in: context, at: snapshot)) }
  }

  /// The items of the Secret Service with all of these attributes, a page at a time.
  package func found(_ attributes: [String: String], in collection: String?, after: ItemCursor?) throws(VaultError)
    -> FoundSecrets
  {
    try store.read { snapshot in try ItemSearcher(snapshot).found(attributes, in: collection, after: after) }
  }

  package func find(_ selection: ItemSelection, _ context: Context?) throws(VaultError) -> Found {
    try store.read { snapshot in
      let wanted = try snapshot.toRead(selection, context)
      if wanted.allSatisfy(\.isOpen) {
        let skips = if case .open = selection { true } else { false }
        return .released(try snapshot.release(wanted, GivenProofs(), wereJustRead: true, skippingDamaged: skips))
      }
      for item in wanted { try snapshot.requireOpen(item.accessibility, item.requirement) }
      return .protected(wanted)
    }
  }

  /// The items of a request that asks for their proofs alone. Releases nothing.
  package func toRead(_ selection: ItemSelection, _ context: Context?) throws(VaultError) -> [WantedItem] {
    try store.read { snapshot in
      let wanted = try snapshot.toRead(selection, context)
      for item in wanted { try snapshot.requireOpen(item.accessibility, item.requirement) }
      return wanted
    }
  }

  /// Releases the secrets of the items that the evidence was gathered for.
  package func release(_ wanted: [WantedItem], _ evidence: consuming Evidence) async throws(VaultError)
    -> [ReleasedItem]
  {
    let wanted = try await passwords.unlocked(wanted, &evidence)
    let proofs = try evidence.current()
    let released = try store.read { snapshot in try snapshot.release(wanted, proofs) }
    evidence.succeed()
    return released
  }

  // MARK: Storing

  /// Stores an item.
  ///
  /// - Parameter password: returns the application password; called if the item is to have one.
  package func add(
    _ item: NewItem, secret: SharedSecret, replacing: Bool,
    password: (ItemName) async throws(VaultError) -> SharedSecret
  ) async throws(VaultError) -> Item {
    let record = ItemRecord(
      itemClass: item.itemClass, attributes: item.attributes, created: secondsSince1970(), modified: 0)
    try record.check()
    var protections = NewProtections(fingers: fingers, passcodes: passcodes)
    let stored = try await protections.protection(of: item) { () async throws(VaultError) in
      try await password(record.name)
    }
    let added = try store.commit(items: true) { change in
      try ItemWriter(change).insert(record, stored, secret: secret.bytes, replacing: replacing)
    }
    // The write-ahead log may still hold the replaced secret and its key.
    if replacing { store.database.forgetOldPages() }
    return added
  }

  /// Stores items in one transaction, and returns the result for each. Does not replace a living item with the same
  /// primary attributes.
  ///
  /// - Throws: errors that do not concern one item alone (``VaultError/concernsNewItem``): then nothing was stored.
  package func add(_ items: [ItemToAdd]) async throws(VaultError) -> [Result<ItemID, VaultError>] {
    var protections = NewProtections(fingers: fingers, passcodes: passcodes)
    var prepared: [Result<(record: ItemRecord, protection: ItemProtection), VaultError>] = []
    for entry in items {
      do throws(VaultError) {
        guard entry.secret.bytes.count <= NewItem.secretLimit else { throw .secretTooLong(limit: NewItem.secretLimit) }
        let record = ItemRecord(
          itemClass: entry.item.itemClass, attributes: entry.item.attributes, created: secondsSince1970(), modified: 0)
        try record.check()
        let protection = try await protections.protection(of: entry.item) { () throws(VaultError) in
          throw .interactionNotAllowed
        }
        prepared.append(.success((record, protection)))
      } catch {
        guard error.concernsNewItem else { throw error }
        prepared.append(.failure(error))
      }
    }
    store.database.cache(pages: .many)
    defer { store.database.cache(pages: .few) }
    return try store.commit(items: true) { change in
      let writer = ItemWriter(change)
      return try zip(items, prepared).map { entry, prepared in
        do {
          let (record, protection) = try prepared.get()
          return .success(
            try writer.insert(record, protection, secret: entry.secret.bytes, replacing: false).id)
        } catch let error as VaultError where error.concernsNewItem {
          return .failure(error)
        }
      }
    }
  }

  /// The first of these items: as many as have secrets of at most `size` bytes together, but at least one. Counts the
  /// sealed secrets, which are a little longer.
  package func first(of ids: [ItemID], upTo size: Int) throws(VaultError) -> [ItemID] {
    guard size >= 0 else { throw .invalidRequest("secrets of \(size) bytes cannot be read") }
    return try store.read { snapshot in
      var left = size
      let fitting = try ids.prefix { id in
        let length = try Int.fetchOne(
          snapshot.db.cachedStatement(sql: "SELECT length(secret) FROM item WHERE id = ?"), arguments: [id.bytes.data])
        left -= length ?? 0
        return left >= 0
      }
      return fitting.isEmpty ? Array(ids.prefix(1)) : Array(fitting)
    }
  }

  /// The items of a change, each once.
  package func toChange(_ selection: ItemSelection, _ context: Context?) throws(VaultError) -> [WantedItem] {
    try store.read { snapshot in
      var seen: Set<[UInt8]> = []
      let wanted = try snapshot.wanted(selection, EarlierProofs(in: context, at: snapshot)).filter {
        seen.insert($0.row.id).inserted
      }
      for item in wanted { try snapshot.requireOpen(item.accessibility, item.requirement) }
      return wanted
    }
  }

  /// The new protection of changed items; nil if their access control stays the same.
  package func protection(after change: ItemChange, _ context: Context?) async throws(VaultError) -> ItemProtection? {
    guard let access = change.access else { return nil }
    // Each item keeps its own accessibility if the change names none.
    var protection = ItemProtection(access: access, accessibility: change.accessibility ?? .whenUnlocked)
    if access.applicationPassword {
      guard let given = context?.applicationPassword else { throw .interactionNotAllowed }
      protection.password = try await passcodes.stretchNew(given)
    }
    if protection.requirement.mentions(.boundFinger) { protection.bound = try await fingers.setForBinding() }
    return protection
  }

  /// Changes items, all of them or none.
  ///
  /// - Parameters:
  ///   - secret: replaces the secret of each item; nil keeps it.
  ///   - protection: the result of ``protection(after:_:)``.
  package func rewrite(
    _ wanted: [WantedItem], _ evidence: consuming Evidence, _ change: ItemChange, secret: SharedSecret?,
    _ protection: ItemProtection?
  ) async throws(VaultError) {
    let wanted = try await passwords.unlocked(wanted, &evidence)
    let proofs = try evidence.current()
    try store.commit(items: true) { transaction in
      for (item, released) in zip(wanted, try transaction.release(wanted, proofs)) {
        if let secret {
          try ItemWriter(transaction).rewrite(item, change, secret: secret.bytes, protection)
        } else {
          try ItemWriter(transaction).rewrite(item, change, secret: released.secret, protection)
        }
      }
    }
    evidence.succeed()
  }

  /// Removes all of the items or none, and returns their number.
  ///
  /// - Throws: `itemGone` if a name or a search finds none; ids that are gone are ignored. `invalidRequest` for a
  ///   search without a class, ids and attributes, which would empty the store.
  package func delete(_ selection: ItemSelection) throws(VaultError) -> Int {
    switch selection {
    case .ids(let ids): if ids.isEmpty { return 0 }
    case .names(let names), .open(let names, _): if names.isEmpty { return 0 }
    case .search(let search):
      guard search.namesSomething else { throw .invalidRequest("name what to delete: a class, items or an attribute") }
    }
    return try store.commit(items: true) { change in try ItemWriter(change).delete(selection) }
  }

  // MARK: Keys

  /// The private key with this id, or for an export the passkey, or for a one-time code the password, which has no family.
  ///
  /// - Throws: `invalidRequest` if the item is no private key, or a key that never leaves the vault is to be exported.
  package func key(_ id: ItemID, for use: KeyUse) throws(VaultError) -> (wanted: [WantedItem], family: KeyFamily?) {
    let wanted = try toChange(.ids([id]), nil)
    if case .oneTimeCode = use {
      guard let item = wanted.first, [.genericPassword, .internetPassword].contains(item.record.itemClass) else {
        throw .invalidRequest("only a password can hold the seed of one-time codes")
      }
      return (wanted, nil)
    }
    guard let item = wanted.first, let family = item.record.keyFamily(for: use) else {
      throw .invalidRequest("this item is not a private key")
    }
    if case .export = use, item.record.itemClass == .key { try item.requireReleasable() }
    return (wanted, family)
  }

  /// Uses a private key: it is unwrapped for this one use and wiped.
  package func use(_ wanted: [WantedItem], _ evidence: consuming Evidence, _ family: KeyFamily?, _ use: KeyUse)
    async throws(VaultError) -> SecretBytes
  {
    let released = try await release(wanted, evidence)[0]
    guard let family else {
      let name = wanted[0].record.name.description
      let seed = try CodeSeed(parsing: released.secret, allowsBare: name.contains(OneTimeCode.itemMark))
      return try seed.code(at: SystemClock.calendar.nanoseconds / 1_000_000_000).answer
    }
    guard let passkey = Passkey(released.item) else { return try use.answer(of: released.secret, family) }
    // Its only use by this call is an export.
    return try VaultError.ofKeys { () throws(KeysError) in
      try PasskeySecret.stored(released.secret, passkey.algorithm).moving()
    }
  }
}

func secondsSince1970() -> Double {
  Double(SystemClock.calendar.nanoseconds) / 1e9
}

/// The number of passkeys in the store. Programs ask for it often, and counting a thousand takes 0.2 ms, so it is
/// cached until the next commit.
final class PasskeyCount: Sendable {
  private let last = Mutex<(commit: UInt64, count: Int)?>(nil)

  func current(in snapshot: StoreSnapshot) throws -> Int {
    let commit = snapshot.authority.sequence
    if let last = last.withLock({ $0 }), last.commit == commit { return last.count }
    let count = try snapshot.passkeyCount(ItemSearch(.passkey))
    last.withLock { $0 = (commit, count) }
    return count
  }
}
