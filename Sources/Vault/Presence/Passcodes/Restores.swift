import GRDB
import Keys
internal import Primitives
package import VaultStore

/// Shows and accepts earlier copies of a store that were put back.
package struct Restores {
  let passcodes: Passcodes

  private var store: Store { passcodes.store }

  /// What a detected restore would bring back; nil if none was detected.
  package func detected() throws(VaultError) -> DetectedRestore? {
    try store.read { snapshot in
      guard snapshot.authority.restored else { return nil }
      let rows = try ItemRow.fetchAll(
        snapshot.db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND dead = 0 ORDER BY row",
        arguments: [store.owner])
      let forgotten = snapshot.authority.doubts.contains(.sets)
      return DetectedRestore(
        id: try RestoredCopy(snapshot: snapshot).id(), acceptance: try RestoredCopy(snapshot: snapshot).acceptance(),
        sets: try snapshot.setStatuses().filter { !$0.fingers.isEmpty },
        fingersAreForgotten: forgotten, items: rows.compactMap { store.record(of: $0)?.name },
        lost: forgotten
          ? try store.names(of: snapshot.doomed(where: "generation IS NOT NULL", [], by: .boundFinger)) : []
      )
    }
  }

  /// Accepts a restore with the passcode, or with the recovery key if no passcode is set, and clears a lockout. Returns
  /// the items that died with dropped fingers.
  ///
  /// - Throws: `recoveryKeyRequired` if only ``PasscodeChanges/recover(accepting:_:)`` accepts it, `busy` if the
  ///   store has changed since it was shown.
  package func accept(_ id: DetectedRestore.ID, _ context: Context) async throws(VaultError) -> [ItemName] {
    guard let restore = try detected(), restore.id == id else { throw VaultError.restoreChanged }
    var proven: ProvenPasscode?
    var recoveryKey: ProvenRecoveryKey?
    switch restore.acceptance {
    case .passcode: proven = try await passcodes.prove(context, evenRestored: true)
    case .recoveryKey: recoveryKey = try await passcodes.proveRecoveryKey(context, evenRestored: true)
    case .recoveryKeyAndNewPasscode: throw .recoveryKeyRequired
    }
    let (lost, first) = try store.commit(evenRestored: true) { change in
      try proven?.requireCurrent(change)
      try recoveryKey?.requireCurrent(change)
      change.authority.lockout.clear()
      let lost = try change.accept(id)
      return (lost, try proven.flatMap { try change.openClassKeys(with: $0.key.bytes) })
    }
    store.database.forgetOldPages()
    if let first { passcodes.opened(first) }
    return lost
  }
}

extension VaultError {
  static let restoreChanged = busy("the copy that was put back has changed since you saw it")
}

/// The restored copy, in one transaction.
package struct RestoredCopy {
  private let snapshot: StoreSnapshot

  package init(snapshot: StoreSnapshot) { self.snapshot = snapshot }

  /// What is needed to accept it.
  package func acceptance() throws -> DetectedRestore.Acceptance {
    // Checks only that the row exists; the doubts say whether it is the latest.
    guard try snapshot.slot(.passcode) != nil else { return .recoveryKey }
    return snapshot.authority.doubts.contains(.slots) ? .recoveryKeyAndNewPasscode : .passcode
  }

  /// A digest of everything that accepting would take over.
  package func id() throws -> DetectedRestore.ID {
    var all = CanonicalEncoding()
    all.append(tag: 1, snapshot.authority.doubts.rawValue)
    for (tag, columns) in [
      (UInt8(2), "name, parameters, box FROM slot ORDER BY name"),
      (3, "reader, record, set_key FROM enrolment_set ORDER BY reader"),
      (4, "id, reader, template FROM enrolment ORDER BY id"),
      (5, "id, name_index, CAST(revision AS TEXT) FROM item ORDER BY row"),
    ] {
      let rows = try Row.fetchCursor(snapshot.db, sql: "SELECT \(columns)")
      while let row = try rows.next() {
        for column in 0..<3 {
          all.append(tag: tag, row.optionalBytes(column) ?? Array((String.fromDatabaseValue(row[column]) ?? "").utf8))
        }
      }
    }
    return DetectedRestore.ID(digest: Digest.sha256(all.bytes))
  }
}

extension StoreTransaction {
  /// Accepts the current state of the store, except for sets that may be outdated: they get a new generation and no
  /// fingers, and items bound to them die.
  func accept(_ id: DetectedRestore.ID) throws -> [ItemName] {
    guard authority.restored, try RestoredCopy(snapshot: self).id() == id else { throw VaultError.restoreChanged }
    if authority.doubts.contains(.rows) { try adoptRows() }
    let lost = authority.doubts.contains(.sets) ? try forgetFingers() : []
    authority.restored = false
    authority.doubts = []
    // Its logical clock went back as well, so other machines would mistake its next changes for earlier ones.
    try leaveCircle()
    return lost
  }

  fileprivate func forgetFingers() throws -> [ItemName] {
    for stored in try sets() {
      var set = stored.set
      set.generation = randomID()
      set.enrolments = []
      set.admission = .fprintd
      try put(set)
      try db.execute(sql: "DELETE FROM enrolment WHERE reader = ?", arguments: [stored.index.data])
      // A store with fingers enrolled through libfprint must still take over fprintd's only on request.
      if authority.adapter == nil || !set.reader.adapter.sharesFingers { authority.adapter = set.reader.adapter }
    }
    return try dropDamagedSets()
  }
}
