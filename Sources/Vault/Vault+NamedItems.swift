import Fingerprint
import GRDB
import Glibc
package import SecureMemory

// Items as the command line knows them: generic passwords of the default group, by service and account.
extension Vault {
  /// The items meant, oldest first, the dead and damaged ones too.
  package func items(_ query: ItemQuery) throws(VaultError) -> [ItemSummary] {
    let store = store
    let search = query.search
    return try store.read { db, _ in
      if case .name(let name) = query {
        let row = try ItemRow.fetchOne(
          db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?",
          arguments: [store.owner, store.nameIndex(ItemRecord(name: name)).data])
        return row.map { [store.summary(of: $0)] } ?? []
      }
      let rows =
        if search.attributes.isEmpty {
          try ItemRow.fetchAll(
            db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? ORDER BY row", arguments: [store.owner])
        } else {
          try ItemRow.fetchAll(
            db,
            sql: """
              SELECT \(ItemRow.columns(of: "item")) FROM item_index JOIN item ON item.row = item_index.row
              WHERE item_index.tag = ? AND item.owner = ? ORDER BY item_index.row
              """, arguments: [store.tag(for: search, in: .genericPassword).data, store.owner])
        }
      let summaries = rows.compactMap { row -> ItemSummary? in
        guard let record = store.record(of: row) else { return store.summary(of: row) }
        let own =
          search.matches(record) && record.attributes[.accessGroup] == .text(AccessGroup.commandLine)
        return own ? store.summary(of: row) : nil
      }
      guard case .pattern(let pattern) = query else { return summaries }
      // Only `*` and `?` are special: brackets and backslashes occur in names.
      let glob = pattern.map { $0 == "[" ? "[[]" : String($0) }.joined()
      return summaries.filter { fnmatch(glob, $0.name?.description ?? "", FNM_NOESCAPE) == 0 }
    }
  }

  /// Whether there is a living item of this name.
  package func exists(_ name: ItemName) throws(VaultError) -> Bool {
    let store = store
    return try store.read { db, _ in try store.item(like: ItemRecord(name: name), db).map { !$0.dead } ?? false }
  }

  /// Stores a secret. Over a living item of the same name only with `replace`; over a dead one always. Asks for the
  /// application password where there is to be one, and for nothing else.
  package func add(
    _ name: ItemName, secret: consuming SecretBytes, access: AccessControl, accessibility: Accessibility,
    replace: Bool, in handle: ContextHandle
  ) async throws(VaultError) {
    guard secret.count <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    if !replace, try exists(name) { throw .itemExists(name) }
    let secret = SecretBox(secret)
    var password: StretchedPasscode?
    if access.applicationPassword {
      guard try passcodeIsSet() || accessibility != .passcodeSet else { throw .passcodeNotSet }
      password = try await asking(in: handle) { context throws(VaultError) in
        let password = try await self.ask(.applicationPassword(name), context)
        guard let password else { throw .interactionNotAllowed }
        guard !password.secret.isEmpty else { throw .invalidPasscode("the application password is empty") }
        return try await Self.stretchNew(password, self.store.floor)
      }
    }
    do {
      _ = try await insert(
        ItemRecord(name: name, created: secondsSince1970()), access, accessibility, secret, password,
        replacing: replace ? .living : .never)
    } catch .duplicateItem {
      throw .itemExists(name)
    }
    // A secret that was replaced is not to stay readable in the log, under a key that stays there as well.
    if replace { store.database.forgetOldPages() }
  }

  /// Removes items, all of them or none. Needs no finger, and no row that verifies.
  package func remove(_ names: [ItemName]) throws(VaultError) {
    let store = store
    try store.commit(items: true) { db, _ in
      for name in names {
        let index = store.nameIndex(ItemRecord(name: name)).data
        let row = try ItemRow.fetchOne(
          db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?",
          arguments: [store.owner, index])
        guard let row, let place = row.row else { throw VaultError.itemNotFound(name) }
        try store.removeFromIndex(place, store.record(of: row), db)
        try ItemRow.delete(place, db)
      }
    }
    store.database.forgetOldPages()
  }

  /// Releases secrets: one touch, or one passcode, for all of them, or nothing.
  package func read(_ names: [ItemName], reason: String?, in handle: ContextHandle)
    async throws(VaultError) -> [ReleasedItem]
  {
    let store = store
    let wanted = try store.read { db, authority in
      try names.map { name in
        guard let row = try store.item(like: ItemRecord(name: name), db) else { throw VaultError.itemNotFound(name) }
        return try Self.wanted(row, named: name, store, db, authority)
      }
    }
    try Self.requireReleasable(wanted)
    return try await authorized(wanted, reason, in: handle) { wanted, evidence throws(VaultError) in
      try self.release(wanted, evidence)
    }
  }
}

extension ItemQuery {
  fileprivate var search: ItemSearch {
    if case .service(let service) = self { return ItemSearch(.genericPassword, [.service: .text(service)]) }
    return ItemSearch(.genericPassword)
  }
}
