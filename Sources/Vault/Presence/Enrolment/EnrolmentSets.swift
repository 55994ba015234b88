import GRDB
import Keys
package import Primitives
package import VaultStore

/// The enrolment sets of a store, and the prints of their fingers.
package struct EnrolmentSets {
  let store: Store

  /// The sets of this user that verify.
  package func verified() throws(VaultError) -> [StoredSet] { try store.read { snapshot in try snapshot.sets() } }

  /// The sets with fingers that may be used.
  func enrolled() throws(VaultError) -> [StoredSet] { try store.read { snapshot in try snapshot.enrolledSets() } }

  /// The set of a reader; nil if no finger was ever enrolled on it.
  func set(on reader: ReaderDescription) throws(VaultError) -> StoredSet? {
    try store.read { snapshot in try snapshot.set(of: reader.identity, reader.nature) }
  }

  /// The set of the open reader. Throws if no finger is enrolled on it, or none that may be used.
  func enrolled(on reader: ReaderDescription) throws(VaultError) -> StoredSet {
    guard let set = try set(on: reader), !set.set.enrolments.isEmpty else { throw .notEnrolled }
    try set.set.requireCounts()
    return set
  }

  /// The prints to compare with, the most recently matched first, without those that the chip no longer holds.
  ///
  /// A finger that is missing from the chip's list was removed elsewhere, or the reader reports wrongly. In both cases
  /// items bound to the set are closed at once, and open again when the list holds every print. A reader's list alone
  /// destroys nothing: removing a finger from the set (`unenroll`) takes the passcode.
  func gallery(
    of stored: StoredSet, on lease: ReaderLease, readingBound: Bool, _ context: Context
  ) async throws(VaultError) -> [EnrolledPrint] {
    let prints = try prints(of: stored)
    guard !prints.isEmpty else { throw .storeDamaged("no fingerprint template verifies") }
    guard lease.description.features.contains(.storageList), stored.set.enrolments.contains(where: \.onChip),
      lease.checkedSet != stored.digest
    else { return prints }
    let chip = try await lease.chipList(knowing: prints, context)
    let present = prints.filter { chip.present.contains($0.id) }
    guard present.count < prints.count else {
      lease.checkedSet = stored.digest
      return prints
    }
    let gone = stored.set.enrolments.filter { !chip.present.contains($0.id) }.map(\.finger)
    guard !readingBound, !present.isEmpty else { throw .printsGone(gone) }
    context.events.yield(.notice(.goneFromChip(gone)))
    return present
  }

  /// The templates of a set that match their digests in the set's record. The finger of any other template must be
  /// enrolled again.
  package func prints(of stored: StoredSet) throws(VaultError) -> [EnrolledPrint] {
    let store = store
    return try store.read { snapshot in
      let key = try store.keys.derive("templates")
      let rows = try Row.fetchAll(
        snapshot.db, sql: "SELECT id, template FROM enrolment WHERE reader = ? ORDER BY last_match DESC, rowid",
        arguments: [stored.index.data])
      return rows.compactMap { row -> EnrolledPrint? in
        let id = EnrolmentID(bytes: row.bytes(0))
        guard let enrolment = stored.set.enrolments.first(where: { $0.id == id }),
          let bytes = try? openRecord(row.bytes(1), key: key, aad: store.templateAAD(id, stored.index)),
          Digest.sha256(bytes) == enrolment.templateDigest
        else { return nil }
        return EnrolledPrint(id: id, template: Template(bytes: bytes))
      }
    }
  }

  /// Writes the changed set with a new generation. Items bound to the old one die.
  func replace(_ old: StoredSet?, with changed: EnrolmentSet, adding prints: [EnrolledPrint]) throws(VaultError)
    -> [ItemName]
  {
    var set = changed
    set.generation = randomID()
    let store = store
    let lost = try store.commit { change in
      let now = try change.set(of: set.reader, set.nature)
      guard now?.digest == old?.digest else { throw VaultError.setChanged }
      let index = store.readerIndex(set.reader, set.nature)
      try change.put(set)
      if change.authority.adapter == nil { change.authority.adapter = set.reader.adapter }
      for gone in old?.set.enrolments ?? [] where !set.enrolments.contains(where: { $0.id == gone.id }) {
        try change.db.execute(sql: "DELETE FROM enrolment WHERE id = ?", arguments: [gone.id.bytes.data])
      }
      for print in prints {
        let box = try sealRecord(
          print.template.bytes, key: store.keys.derive("templates"), aad: store.templateAAD(print.id, index))
        try change.db.execute(
          sql: "INSERT INTO enrolment (id, reader, template) VALUES (?, ?, ?)",
          arguments: [print.id.bytes.data, index.data, box.data])
      }
      guard let old else { return [ItemName]() }
      return try change.kill(where: "generation = ?", [old.set.generation.data], by: .boundFinger)
    }
    store.database.forgetOldPages()
    return lost
  }

  /// The items that die when this set changes.
  func bound(to stored: StoredSet) throws(VaultError) -> [ItemName] {
    let store = store
    return try store.read { snapshot in
      try ItemRow.fetchAll(
        snapshot.db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND dead = 0 AND generation = ?",
        arguments: [store.owner, stored.set.generation.data]
      ).compactMap { row in
        guard let access = row.accessControl.map(Requirement.init),
          access.without(Wrapping.closed(row.itemKey, access)).always(.boundFinger)
        else { return nil }
        return store.record(of: row)?.name
      }
    }
  }
}

extension ReaderLease {
  /// The list of prints on the chip, or in fprintd.
  func chipList(knowing prints: [EnrolledPrint], _ context: Context) async throws(VaultError)
    -> ChipList
  {
    try await context.outcome(of: .answer) { try await ask { try await $0.storedPrints(knowing: prints) } }
  }
}

extension OpenedStore {
  func templateAAD(_ id: EnrolmentID, _ reader: [UInt8]) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, UInt64(StoreDatabase.format))
    aad.append(tag: 2, keys.databaseID)
    aad.append(tag: 3, "enrolment.template")
    aad.append(tag: 4, UInt64(owner))
    aad.append(tag: 5, id.bytes)
    aad.append(tag: 6, reader)
    return aad.bytes
  }
}
