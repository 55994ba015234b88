package import Foundation
import GRDB
import Keys
package import Primitives
import SecretModel

// The rows of keys and sets. The authority record holds a digest of each, so that a genuine but older row is refused.
extension StoreSnapshot {
  package func slot(_ name: Slot.Name) throws -> Slot? {
    guard
      let row = try Row.fetchOne(
        db.cachedStatement(sql: "SELECT parameters, box FROM slot WHERE name = ?"), arguments: [name.text])
    else {
      guard authority.rows[Self.key(name)] == nil else {
        throw VaultError.storeDamaged("the \(name.text) slot is gone")
      }
      return nil
    }
    let slot = Slot(name: name, parameters: row.bytes(0), box: row.bytes(1))
    try check(Self.key(name), slot.digest())
    return slot
  }

  /// The sets of this user that verify; see ``damagedSets(_:_:)`` for the others.
  package func sets() throws -> [StoredSet] {
    let key = try store.keys.derive("sets")
    return try Row.fetchAll(db.cachedStatement(sql: "SELECT reader, record, set_key FROM enrolment_set")).compactMap {
      row in
      try? stored(reader: row.bytes(0), record: row.bytes(1), setKey: row.bytes(2), key)
    }.filter { $0.set.owner == store.owner }
  }

  /// The sets with fingers that may be used.
  package func enrolledSets() throws -> [StoredSet] {
    try sets().filter { !$0.set.enrolments.isEmpty && $0.set.counts }
  }

  /// The number of sets in the authority record that are gone or do not verify.
  package func damagedSets() throws -> Int {
    let remembered = authority.rows.keys.filter { $0.hasPrefix(Self.setPrefix) }
    let verified = Set(try sets().map { Self.key(set: $0.index) })
    return remembered.filter { !verified.contains($0) }.count
  }

  package func set(of reader: ReaderIdentity, _ nature: ReaderDescription.Nature)
    throws -> StoredSet?
  {
    let index = store.readerIndex(reader, nature)
    guard
      let row = try Row.fetchOne(
        db.cachedStatement(sql: "SELECT record, set_key FROM enrolment_set WHERE reader = ?"), arguments: [index.data])
    else {
      guard authority.rows[Self.key(set: index)] == nil else {
        throw VaultError.storeDamaged("an enrolment set is gone")
      }
      return nil
    }
    return try stored(
      reader: index, record: row.bytes(0), setKey: row.bytes(1), try store.keys.derive("sets"))
  }

  fileprivate func check(_ key: String, _ digest: [UInt8]) throws {
    // After a restore there may be no digests to compare with. The boxes themselves are still authenticated.
    guard authority.rows[key] == digest || authority.doubts.contains(.rows) else {
      throw VaultError.storeDamaged("the \(key) row is not the one last written")
    }
  }

  fileprivate func setAAD(_ part: String, _ index: [UInt8], _ generation: [UInt8]) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, UInt64(StoreDatabase.format))
    aad.append(tag: 2, store.keys.databaseID)
    aad.append(tag: 3, "enrolment_set.\(part)")
    aad.append(tag: 4, UInt64(store.owner))
    aad.append(tag: 5, index)
    aad.append(tag: 6, generation)
    return aad.bytes
  }

  fileprivate static func digest(_ index: [UInt8], _ record: [UInt8], _ setKey: [UInt8]) -> [UInt8] {
    var row = CanonicalEncoding()
    row.append(tag: 1, index)
    row.append(tag: 2, record)
    row.append(tag: 3, setKey)
    return Digest.sha256(row.bytes)
  }

  fileprivate static func key(_ name: Slot.Name) -> String { Authority.Table.slots.rawValue + name.text }

  fileprivate static let setPrefix = Authority.Table.sets.rawValue

  static func key(set index: [UInt8]) -> String {
    setPrefix + Hexadecimal.text(of: index.prefix(8))
  }
}

extension StoreTransaction {
  package func put(_ slot: Slot) throws {
    try db.execute(
      sql: "INSERT OR REPLACE INTO slot (name, parameters, box) VALUES (?, ?, ?)",
      arguments: [slot.name.text, slot.parameters.data, slot.box.data])
    authority.rows[Self.key(slot.name)] = slot.digest()
  }

  package func remove(_ name: Slot.Name) throws {
    try db.execute(sql: "DELETE FROM slot WHERE name = ?", arguments: [name.text])
    authority.rows[Self.key(name)] = nil
  }

  package func putClassKey(_ accessibility: Accessibility) throws {
    try put(
      Slot(.classKey(accessibility), wrapping: Random.key(), under: store.keys.root, databaseID: store.keys.databaseID))
  }

  /// Drops the sets that do not verify, and ends the items bound to them. Call it only after the passcode was given.
  package func dropDamagedSets() throws -> [ItemName] {
    let good = try sets()
    let verified = Set(good.map { Self.key(set: $0.index) })
    for row in try Row.fetchAll(db.cachedStatement(sql: "SELECT reader FROM enrolment_set")) {
      let index = row.bytes(0)
      guard !verified.contains(Self.key(set: index)) else { continue }
      try db.execute(sql: "DELETE FROM enrolment_set WHERE reader = ?", arguments: [index.data])
      try db.execute(sql: "DELETE FROM enrolment WHERE reader = ?", arguments: [index.data])
    }
    for key in authority.rows.keys where key.hasPrefix(Self.setPrefix) && !verified.contains(key) {
      authority.rows[key] = nil
    }
    return try Row.fetchAll(
      db.cachedStatement(sql: "SELECT DISTINCT generation FROM item WHERE generation IS NOT NULL AND dead = 0")
    )
    .map { $0.bytes(0) }
    .filter { generation in !good.contains { $0.set.generation == generation } }
    .flatMap { try kill(where: "generation = ?", [$0.data], by: .boundFinger) }
  }

  /// Writes a set with a new generation and a new set key. Overwriting the old key destroys everything wrapped under
  /// it.
  package func put(_ set: EnrolmentSet) throws {
    let index = store.readerIndex(set.reader, set.nature)
    let key = try store.keys.derive("sets")
    let record = try sealRecord(set.record, key: key, aad: setAAD("record", index, []))
    let setKey = try AEAD.seal(Random.key(), key: key, aad: setAAD("key", index, set.generation))
    try db.execute(
      sql: "INSERT OR REPLACE INTO enrolment_set (reader, record, set_key) VALUES (?, ?, ?)",
      arguments: [index.data, record.data, setKey.data])
    authority.rows[Self.key(set: index)] = Self.digest(index, record, setKey)
  }

  /// Accepts every row in its current state. Only for a restore accepted with the passcode or the recovery key.
  package func adoptRows() throws {
    authority.rows = [:]
    for row in try Row.fetchAll(db.cachedStatement(sql: "SELECT name, parameters, box FROM slot")) {
      guard let text = String.fromDatabaseValue(row[0]) else { continue }
      authority.rows[Authority.Table.slots.rawValue + text] = Slot.digest(
        text, parameters: row.bytes(1), box: row.bytes(2))
    }
    for row in try Row.fetchAll(db.cachedStatement(sql: "SELECT reader, record, set_key FROM enrolment_set")) {
      authority.rows[Self.key(set: row.bytes(0))] = Self.digest(row.bytes(0), row.bytes(1), row.bytes(2))
    }
  }
}

extension StoreSnapshot {
  fileprivate func stored(
    reader index: [UInt8], record: [UInt8], setKey: [UInt8], _ key: borrowing SecretBytes
  ) throws -> StoredSet {
    try check(Self.key(set: index), Self.digest(index, record, setKey))
    guard let bytes = try? openRecord(record, key: key, aad: setAAD("record", index, [])),
      let set = EnrolmentSet(record: bytes), store.readerIndex(set.reader, set.nature) == index
    else { throw VaultError.storeDamaged("the record of an enrolment set does not verify") }
    return StoredSet(index: index, set: set, digest: set.digest(), boxedKey: setKey)
  }

  /// The key of the set, for wrapping and unwrapping the items bound to it.
  package func setKey(of stored: StoredSet) throws -> SecretBytes {
    do {
      return try AEAD.open(
        stored.boxedKey, key: try store.keys.derive("sets"), aad: setAAD("key", stored.index, stored.set.generation))
    } catch let error as KeysError {
      throw VaultError(cause: error)
    }
  }
}

extension OpenedStore {
  package func readerIndex(_ reader: ReaderIdentity, _ nature: ReaderDescription.Nature) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "reader")
    part.append(tag: 2, UInt64(owner))
    part.append(tag: 3, EnrolmentSet.canonical(reader, nature))
    return MAC.hmacSHA256(key: keys.index, part.bytes)
  }
}

/// An enrolment set and its row.
package struct StoredSet {
  package var index: [UInt8]
  package var set: EnrolmentSet
  package var digest: [UInt8]
  var boxedKey: [UInt8]
}

extension [UInt8] {
  /// The bytes as a blob for GRDB. Only for ciphertext and public bytes.
  package var data: Data { Data(self) }
}

extension Row {
  /// The bytes of a column; empty if an edit left a value of another type.
  package func bytes(_ column: Int) -> [UInt8] {
    optionalBytes(column) ?? []
  }

  package func optionalBytes(_ column: Int) -> [UInt8]? {
    // Copying Data byte by byte, as Array's initializer does, is slow.
    Data.fromDatabaseValue(self[column]).map { $0.withUnsafeBytes(Array.init) }
  }
}

/// Why the items of a class are closed.
package enum ClosedClass {
  /// The user's sessions are locked.
  case session
  /// The passcode has not been given since the vault started, or must be given again.
  case passcode
}

extension Slot {
  /// The slot's parameters if the class key is wrapped with the passcode's key.
  fileprivate static let sealed = Array("passcode".utf8)

  /// Whether this class key is wrapped with the passcode's key.
  fileprivate var isSealed: Bool { !parameters.isEmpty }
}

extension StoreSnapshot {
  /// What the first unlock of this store requires, as the wrapping of its class keys shows.
  package func firstUnlock() throws -> FirstUnlock {
    if try store.classKeys.firstUnlock != .passcode && slot(.loginKey) != nil { return .login }
    if store.classKeys.firstUnlock != .none { return .passcode }
    return try slot(.classKey(.afterFirstUnlock))?.isSealed == true ? .passcode : .none
  }

  /// Why items of this class are closed; nil while they are open.
  package func closed(_ accessibility: Accessibility) throws -> ClosedClass? {
    guard let slot = try slot(.classKey(accessibility)) else { return nil }
    return closed(slot, accessibility)
  }

  /// The classes that have a key and are open.
  package func openClasses() throws -> [Accessibility] {
    try Accessibility.allCases.filter { accessibility in
      guard let slot = try slot(.classKey(accessibility)) else { return false }
      return closed(slot, accessibility) == nil
    }
  }

  private func closed(_ slot: Slot, _ accessibility: Accessibility) -> ClosedClass? {
    if accessibility != .afterFirstUnlock, store.classKeys.sessionsAreLocked { return .session }
    guard slot.isSealed || store.classKeys.firstUnlock != .none else { return nil }
    return firstKey == nil ? .passcode : nil
  }

  private var firstKey: SharedSecret? { store.classKeys.key(of: store.keys.databaseID, store.clock) }

  /// The key under which items of this class are wrapped; nil for `passcode-set` while no passcode is set.
  ///
  /// - Throws: `notUnlocked` while the class is closed.
  package func classKey(_ accessibility: Accessibility) throws -> SecretBytes? {
    guard let slot = try slot(.classKey(accessibility)) else { return nil }
    guard closed(slot, accessibility) == nil else { throw VaultError.notUnlocked(accessibility) }
    return try key(in: slot, accessibility)
  }

  /// ``classKey(_:)``, but also while the login sessions are locked. Only for public keys that are derived from it: what
  /// others encrypt to them opens once the class is open.
  ///
  /// - Throws: `notUnlocked` before the first unlock.
  func classKeyWhileLocked(_ accessibility: Accessibility) throws -> SecretBytes? {
    guard let slot = try slot(.classKey(accessibility)) else { return nil }
    return try key(in: slot, accessibility)
  }

  private func key(in slot: Slot, _ accessibility: Accessibility) throws -> SecretBytes {
    guard slot.isSealed else { return try unwrap(slot, under: store.keys.root) }
    guard let first = firstKey else { throw VaultError.notUnlocked(accessibility) }
    if accessibility == .afterFirstUnlock { return first.bytes.copy() }
    return try unwrap(slot, under: encryption(first.bytes))
  }

  /// Refuses an item whose class is closed, before anybody is asked. An item that always needs the passcode is allowed:
  /// the passcode opens its class.
  package func requireOpen(_ accessibility: Accessibility, _ requirement: Requirement) throws {
    switch try closed(accessibility) {
    case nil: return
    case .passcode where requirement.always(.passcode, .passcodeGate): return
    case .passcode, .session: throw VaultError.notUnlocked(accessibility)
    }
  }

  /// The key that wraps class keys, derived from the root key and another key.
  fileprivate func encryption(_ key: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    var parts = SecretConcatenation()
    parts.append(tag: 1, try store.keys.derive("class keys"))
    parts.append(tag: 2, key)
    do {
      return try KDF.wrappingKey(from: parts, info: Array("whorl class key".utf8))
    } catch {
      throw VaultError(cause: error)
    }
  }

  fileprivate func unwrap(_ slot: Slot, under key: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    do {
      return try slot.unwrap(under: key, databaseID: store.keys.databaseID)
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension StoreTransaction {
  /// The key of `after-first-unlock`, unwrapped with the passcode key; nil in a store that is open from the start. If
  /// the class keys are to be wrapped with the passcode's key and are not yet, wraps them.
  package func openClassKeys(with passcodeKey: borrowing SecretBytes) throws -> SharedSecret? {
    // A damaged row must not prevent use of the passcode. An item that needs it reports the damage.
    guard !authority.restored, let slot = try? slot(.classKey(.afterFirstUnlock)) else { return nil }
    if slot.isSealed { return SharedSecret(try unwrap(slot, under: encryption(passcodeKey))) }
    guard store.classKeys.firstUnlock != .none else { return nil }
    let first = SharedSecret(try unwrap(slot, under: store.keys.root))
    let id = store.keys.databaseID
    for name in [Slot.Name.classKey(.whenUnlocked), .classKey(.passcodeSet)] {
      guard let slot = try self.slot(name) else { continue }
      let key = try unwrap(slot, under: store.keys.root)
      try put(
        Slot(name, wrapping: key, under: encryption(first.bytes), databaseID: id, parameters: Slot.sealed))
    }
    try putFirstKey(first, under: passcodeKey)
    return first
  }

  /// Wraps the key of `after-first-unlock` under another passcode key.
  package func putFirstKey(_ first: SharedSecret, under passcodeKey: borrowing SecretBytes) throws {
    try put(
      Slot(
        .classKey(.afterFirstUnlock), wrapping: first.bytes, under: encryption(passcodeKey),
        databaseID: store.keys.databaseID, parameters: Slot.sealed))
  }
}

extension Store {
  /// Waits until the class `after-first-unlock` is opened or closed, and returns whether it is open.
  package func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool {
    while true {
      let changes = classKeys.changes.value
      guard !Task.isCancelled else { throw .cancelled }
      let isOpenNow = try read { snapshot in try snapshot.closed(.afterFirstUnlock) == nil }
      guard isOpenNow == isOpen else { return isOpenNow }
      await classKeys.changes.reaches(changes + 1)
    }
  }
}

// The circle and its records, for a store that is in one.
extension StoreTransaction {
  /// Forgets the circle and all of its records. The items stay.
  package func leaveCircle() throws {
    for name in [Slot.Name.circle, .circlePasscodeKey] where try slot(name) != nil { try remove(name) }
    try forgetRecords()
  }

  /// Forgets the records of the circle. The items stay.
  package func forgetRecords() throws {
    changesRecords = true
    try db.execute(sql: "DELETE FROM sync_record")
    try db.execute(sql: "DELETE FROM sync_progress")
  }
}
