import Fingerprint
import GRDB
import Glibc
import Keys
package import SecureMemory

extension Vault {
  /// The items meant, oldest first. Attributes are sealed but need no finger.
  package func items(_ query: ItemQuery) throws(VaultError) -> [ItemSummary] {
    let store = store
    return try store.read { db, _ in
      let select = "SELECT \(ItemRow.columns) FROM item WHERE owner = \(store.owner)"
      let rows: [ItemRow]
      switch query {
      case .all, .pattern: rows = try ItemRow.fetchAll(db, sql: "\(select) ORDER BY row")
      case .service(let service):
        rows = try ItemRow.fetchAll(
          db, sql: "\(select) AND service_index = ? ORDER BY row", arguments: [store.serviceIndex(service).data])
      case .name(let name):
        rows = try ItemRow.fetchAll(
          db, sql: "\(select) AND name_index = ?", arguments: [store.nameIndex(name).data])
      }
      let summaries = rows.map { row in store.summary(of: row) }
      guard case .pattern(let pattern) = query else { return summaries }
      // Only `*` and `?` are special: brackets and backslashes occur in names.
      let glob = pattern.map { $0 == "[" ? "[[]" : String($0) }.joined()
      return summaries.filter { fnmatch(glob, $0.name?.description ?? "", FNM_NOESCAPE) == 0 }
    }
  }

  /// Whether there is a living item of this name.
  package func exists(_ name: ItemName) throws(VaultError) -> Bool {
    let store = store
    return try store.read { db, _ in try store.item(name, db).map { !$0.dead } ?? false }
  }

  /// Stores a secret. Over a living item of the same name only with `replace`; over a dead one always.
  ///
  /// Asks for the passcode where the access control is the passcode (its key is part of the wrapping), and for the
  /// application password; never for a finger.
  package func add(
    _ name: ItemName, secret: consuming SecretBytes, access: AccessControl, accessibility: Accessibility,
    replace: Bool, in handle: ContextHandle
  ) async throws(VaultError) {
    guard secret.count <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    if !replace, try exists(name) { throw .itemExists(name) }
    let secret = SecretBox(secret)
    let store = store
    guard try passcodeIsSet() || !(accessibility == .passcodeSet || access.constraint == .passcode) else {
      throw .passcodeNotSet
    }
    let bound: StoredSet? =
      switch access.constraint {
      case .currentSet: try await setForBinding()
      case .anyFinger: try anyEnrolledSet()
      default: nil
      }
    let (passcode, password) = try await asking(in: handle) { context throws(VaultError) in
      let passcode = access.constraint == .passcode ? try await self.provePasscode(context) : nil
      guard access.applicationPassword else { return (passcode, nil as StretchedPasscode?) }
      let password = try await self.ask(.applicationPassword(name), context)
      guard let password else { throw .interactionNotAllowed }
      guard !password.secret.isEmpty else { throw .invalidPasscode("the application password is empty") }
      return (passcode, try await Self.stretchNew(password, store.floor))
    }
    try store.commit { db, authority in
      let old = try store.replaceable(name, db, replace)
      if let old, !old.dead, !replace { throw VaultError.itemExists(name) }
      var row = ItemRow(
        row: old?.row, id: try randomID(), owner: Int64(store.owner), nameIndex: store.nameIndex(name),
        serviceIndex: store.serviceIndex(name.service), revision: (old?.revision ?? 0) + 1,
        access: Int64(bitPattern: access.flags), accessibility: accessibility.rawValue, dead: false, attributes: [],
        derivation: password?.parameters.encoded)
      guard let classKey = try store.classKey(accessibility, db, authority) else { throw VaultError.passcodeNotSet }
      var parts = WrappingParts(classKey: classKey)
      if access.constraint == .currentSet, let bound {
        // The set may have changed since it was looked at: bind to what it is now, or not at all.
        guard let now = try store.set(of: bound.set.reader, bound.set.nature, db, authority), now.digest == bound.digest
        else { throw VaultError.setChanged }
        row.generation = now.set.generation
        parts.add(setKey: try store.setKey(of: now))
      }
      if let passcode {
        try passcode.requireCurrent(store, db, authority)
        parts.add(passcodeKey: passcode.key.secret)
      }
      if let password { parts.add(applicationPassword: password.key.secret) }
      let now = Int64(time(nil))
      let created = old.flatMap { store.attributes(of: $0) }?.created ?? now
      try store.fill(
        &row, ItemAttributes(name: name, created: created, modified: now), secret: secret.secret, under: parts)
      try row.write(db)
    }
    // A secret that was replaced is not to stay readable in the log, under a key that stays there as well.
    if replace { store.database.forgetOldPages() }
  }

  /// Removes items, all of them or none. Needs no finger, and no row that verifies.
  package func remove(_ names: [ItemName]) throws(VaultError) {
    let store = store
    try store.commit { db, _ in
      for name in names {
        try db.execute(
          sql: "DELETE FROM item WHERE owner = ? AND name_index = ?",
          arguments: [store.owner, store.nameIndex(name).data])
        guard db.changesCount > 0 else { throw VaultError.itemNotFound(name) }
      }
    }
    store.database.forgetOldPages()
  }

  /// Whether there is a passcode. Looks at its slot alone, so that damage elsewhere does not stand in the way of it.
  func passcodeIsSet() throws(VaultError) -> Bool {
    let store = store
    return try store.read { db, authority in try store.slot(.passcode, db, authority) != nil }
  }

  /// The set a new item is bound to: the only one with fingers, or else that of the reader attached now.
  private func setForBinding() async throws(VaultError) -> StoredSet {
    let sets = try enrolledSets()
    guard let first = sets.first else { throw .notEnrolled }
    if sets.count == 1 { return first }
    let wanted = try await attachedReader()
    guard let set = sets.first(where: { $0.set.reader == wanted.identity && $0.set.nature == wanted.nature }) else {
      throw .notEnrolled
    }
    return set
  }

  private func anyEnrolledSet() throws(VaultError) -> StoredSet {
    guard let set = try enrolledSets().first else { throw .notEnrolled }
    return set
  }

  private func enrolledSets() throws(VaultError) -> [StoredSet] {
    let store = store
    return try store.read { db, authority in
      try store.sets(db, authority).filter { !$0.set.enrolments.isEmpty }
    }
  }
}

extension ItemRow {
  /// Inserts the row, or replaces the one it was made over, which keeps its place in the order.
  func write(_ db: Database) throws {
    try db.execute(
      sql: "INSERT OR REPLACE INTO item (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      arguments: [
        row, id.data, owner, nameIndex.data, serviceIndex.data, revision, access, accessibility, generation?.data, dead,
        attributes.data, derivation?.data, itemKey?.data, secret?.data,
      ])
  }
}
