import GRDB
import Keys
import Presence
internal import Primitives
import VaultItems
import VaultStore

/// A store and a backup of it, each at one moment.
struct BackupComparison {
  let now: StoreSnapshot
  let backup: StoreSnapshot

  /// A digest of everything that restoring replaces or keeps.
  func id() throws -> BackupContents.ID {
    var both = CanonicalEncoding()
    both.append(tag: 1, try RestoredCopy(snapshot: now).id().digest)
    both.append(tag: 2, try RestoredCopy(snapshot: backup).id().digest)
    return BackupContents.ID(digest: Digest.sha256(both.bytes))
  }

  func contents() throws -> BackupContents {
    let (mine, theirs) = (try Self.living(now), try Self.living(backup))
    let removed = mine.keys.filter { theirs[$0] == nil }
    let returning = theirs.keys.filter { mine[$0] == nil }
    let changed = theirs.filter { id, item in mine[id].map { $0.content != item.content } ?? false }.keys
    return BackupContents(
      id: try id(), proof: try proof(), items: theirs.count,
      removed: try Self.names(removed.map { mine[$0]?.row ?? 0 }, now),
      returning: try Self.names(returning.map { theirs[$0]?.row ?? 0 }, backup),
      changed: try Self.names(changed.map { theirs[$0]?.row ?? 0 }, backup), dead: try dead())
  }

  private func proof() throws -> BackupContents.Proof {
    guard let key = try now.passcodePublicKey() else { return .recoveryKey }
    let old = try backup.passcodePublicKey()
    return old == nil || old == key ? .passcode : .recoveryKey
  }

  /// The items that come back dead, as far as this is known without the passcode or the recovery key.
  private func dead() throws -> [ItemName] {
    let sets = Set(try now.sets().map(\.set.generation))
    var rows: [[UInt8]: ItemRow] = [:]
    func note(_ doomed: [ItemRow]) { for row in doomed { rows[row.id] = row } }
    for generation in try backup.boundGenerations() where !sets.contains(generation) {
      note(try backup.doomed(where: "generation = ?", [generation.data], by: .boundFinger))
    }
    if try now.passcodePublicKey() == nil {
      note(try backup.doomed(where: "access & ? != 0", [AccessControl.passcodeFlag], by: .passcode))
      note(try backup.doomed(where: "accessibility = ?", [Accessibility.passcodeSet.rawValue], by: nil))
    }
    return backup.store.names(of: rows.values.sorted { ($0.row ?? 0) < ($1.row ?? 0) })
  }

  private struct Living {
    var row: Int64
    /// Equal for identical items.
    var content: [UInt8]
  }

  /// The living items by id.
  private static func living(_ snapshot: StoreSnapshot) throws -> [[UInt8]: Living] {
    var items: [[UInt8]: Living] = [:]
    let rows = try Row.fetchCursor(
      snapshot.db, sql: "SELECT row, id, revision, attributes FROM item WHERE dead = 0 AND +owner = ?",
      arguments: [snapshot.store.owner])
    while let row = try rows.next() {
      var content = CanonicalEncoding()
      content.append(tag: 1, UInt64(bitPattern: Int64.fromDatabaseValue(row[2]) ?? -1))
      content.append(tag: 2, Digest.sha256(row.bytes(3)))
      items[row.bytes(1)] = Living(row: Int64.fromDatabaseValue(row[0]) ?? 0, content: content.bytes)
    }
    return items
  }

  /// The names of the rows in their order.
  private static func names(_ rows: [Int64], _ snapshot: StoreSnapshot) throws -> [ItemName] {
    try rows.sorted().compactMap { row in
      try ItemRow.fetchOne(
        snapshot.db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE row = ?"), arguments: [row]
      ).flatMap { snapshot.store.record(of: $0)?.name }
    }
  }
}

extension StoreSnapshot {
  /// The generations of the sets that living items are bound to.
  func boundGenerations() throws -> [[UInt8]] {
    try Row.fetchAll(db, sql: "SELECT DISTINCT generation FROM item WHERE generation IS NOT NULL AND dead = 0")
      .map { $0.bytes(0) }
  }
}

extension StoreTransaction {
  /// Replaces all items by those of a backup, and ends those that can no longer be opened. Returns the names of these.
  ///
  /// - Parameter recoveryKey: the key of the recovery slot, if it was given. It opens the passcode key of the backup.
  func replaceItems(by backup: StoreSnapshot, recoveryKey: SharedSecret?) throws -> [ItemName] {
    try db.execute(sql: "DELETE FROM item")
    try copy("item", ItemRow.names + ["secret"], from: backup)
    try indexItemsAgain()
    // Do not lower any count of wrong application passwords.
    authority.passwords.merge(backup.authority.passwords) { $0.failures >= $1.failures ? $0 : $1 }
    let sets = Set(try self.sets().map(\.set.generation))
    var lost = try boundGenerations().filter { !sets.contains($0) }.flatMap {
      try kill(where: "generation = ?", [$0.data], by: .boundFinger)
    }
    lost += try movePasscodeItems(from: backup, recoveryKey)
    try storeRecordsAgain()
    return lost
  }

  private func copy(_ table: String, _ columns: [String], from backup: StoreSnapshot) throws {
    let insertion = try db.makeStatement(
      sql: """
        INSERT INTO \(table) (\(columns.joined(separator: ", ")))
        VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
        """)
    let rows = try Row.fetchCursor(backup.db, sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table)")
    while let row = try rows.next() { try insertion.execute(arguments: StatementArguments(row.databaseValues)) }
  }

  /// Reseals the layers of the backup's passcode key for the current one, where the recovery key opens both.
  private func movePasscodeItems(from backup: StoreSnapshot, _ recoveryKey: SharedSecret?) throws -> [ItemName] {
    var lost: [ItemName] = []
    let (old, new) = (try backup.passcodePublicKey(), try passcodePublicKey())
    if new == nil {
      lost += try kill(where: "access & ? != 0", [AccessControl.passcodeFlag], by: .passcode)
    } else if let old, old != new {
      guard let recoveryKey, let from = try backup.passcodeKey(byRecovery: recoveryKey.bytes),
        let to = try passcodeKey(byRecovery: recoveryKey.bytes)
      else { throw VaultError.recoveryKeyRequired }
      try moveItems(from: from, to: to)
    }
    let ofClass = "accessibility = ? AND dead = 0"
    let count = try Int.fetchOne(
      db, sql: "SELECT count(*) FROM item WHERE \(ofClass)", arguments: [Accessibility.passcodeSet.rawValue])
    if count ?? 0 > 0 {
      let now = try classKey(.passcodeSet)
      let then = try backup.classKey(.passcodeSet)
      // The class has a new key since the passcode was removed.
      if now?.constantTimeEquals(then ?? SecretBytes(count: 0)) != true {
        lost += try kill(where: ofClass, [Accessibility.passcodeSet.rawValue], by: nil)
      }
    }
    return lost
  }
}
