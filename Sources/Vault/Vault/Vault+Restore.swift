import Fingerprint
import GRDB
import Keys

extension Vault {
  /// What an earlier copy that was put back brings with it; nil where none was detected.
  package func detectedRestore() throws(VaultError) -> DetectedRestore? {
    let store = store
    return try store.read { moment in
      guard moment.authority.restored else { return nil }
      let rows = try ItemRow.fetchAll(
        moment.db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND dead = 0 ORDER BY row",
        arguments: [store.owner])
      let forgotten = moment.authority.doubts.contains(.sets)
      return DetectedRestore(
        id: try moment.restoreID(), acceptance: try moment.acceptance(),
        sets: try moment.setStatuses().filter { !$0.fingers.isEmpty },
        fingersAreForgotten: forgotten, items: rows.compactMap { store.record(of: $0)?.name },
        lost: forgotten
          ? try store.names(of: moment.doomed(where: "generation IS NOT NULL", [], by: .boundFinger)) : []
      )
    }
  }

  /// Accepts a restore with the passcode, or with the recovery key where none is set, and clears a lockout. Gives the
  /// items that died with forgotten fingers.
  ///
  /// - Throws: `recoveryKeyRequired` where only ``recover(accepting:_:)`` accepts it, `busy` where it is no longer what
  ///   was shown.
  func acceptRestore(_ id: DetectedRestore.ID, _ request: Request) async throws(VaultError) -> [ItemName] {
    let store = store
    return try await asking(request) { context throws(VaultError) in
      guard let restore = try self.detectedRestore(), restore.id == id else { throw Self.restoreChanged }
      var passcode: ProvenPasscode?
      switch restore.acceptance {
      case .passcode: passcode = try await self.provePasscode(context, evenRestored: true)
      case .recoveryKey: _ = try await self.proveRecoveryKey(context, evenRestored: true)
      case .recoveryKeyAndNewPasscode: throw .recoveryKeyRequired
      }
      let proven = passcode
      let (lost, first) = try store.commit(evenRestored: true) { change in
        try proven?.requireCurrent(change)
        change.authority.lockout.clear()
        let lost = try change.accept(id)
        return (lost, try proven.flatMap { try change.openClassKeys(with: $0.key.secret) })
      }
      store.database.forgetOldPages()
      if let first { self.opened(first) }
      return lost
    }
  }

  static let restoreChanged = VaultError.busy("what was put back changed meanwhile")
}

extension Moment {
  func acceptance() throws -> DetectedRestore.Acceptance {
    // By the row alone: whether it is the right one is what the doubts say.
    guard try slot(.passcode) != nil else { return .recoveryKey }
    return authority.doubts.contains(.slots) ? .recoveryKeyAndNewPasscode : .passcode
  }

  /// Over all that accepting takes as it stands.
  func restoreID() throws -> DetectedRestore.ID {
    var all = CanonicalEncoding()
    all.append(tag: 1, authority.doubts.rawValue)
    for (tag, columns) in [
      (UInt8(2), "name, parameters, box FROM slot ORDER BY name"),
      (3, "reader, record, set_key FROM enrolment_set ORDER BY reader"),
      (4, "id, reader, template FROM enrolment ORDER BY id"),
      (5, "id, name_index, CAST(revision AS TEXT) FROM item ORDER BY row"),
    ] {
      let rows = try Row.fetchCursor(db, sql: "SELECT \(columns)")
      while let row = try rows.next() {
        for column in 0..<3 {
          all.append(tag: tag, row.optionalBytes(column) ?? Array((String.fromDatabaseValue(row[column]) ?? "").utf8))
        }
      }
    }
    return DetectedRestore.ID(digest: Digest.sha256(all.bytes))
  }
}

extension Change {
  /// Takes the store as it stands, but for sets that no record vouches for: they get a new generation and are left
  /// without fingers, and what was bound to them dies.
  func accept(_ id: DetectedRestore.ID) throws -> [ItemName] {
    guard authority.restored, try restoreID() == id else { throw Vault.restoreChanged }
    if authority.doubts.contains(.rows) { try adoptRows() }
    let lost = authority.doubts.contains(.sets) ? try forgetFingers() : []
    authority.restored = false
    authority.doubts = []
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
      // A store whose fingers came through libfprint goes on taking none of fprintd's unasked.
      if authority.adapter == nil || set.reader.adapter == .libfprint { authority.adapter = set.reader.adapter }
    }
    return try dropDamagedSets()
  }
}
