package import Keys
package import Primitives

/// The authenticated record of values that must never go back to an earlier state: the commit number, the failure
/// counts, and the digests of the rows of keys and sets. It is sealed in the `store` row. The manifest beside the
/// database repeats its number.
package struct Authority: Equatable {
  package internal(set) var sequence: UInt64 = 0
  package var lockout = Lockout()
  /// Whether an earlier copy of database or manifest was put back and is not accepted yet.
  package var restored = false
  /// The parts of a restored store that may not be the last ones.
  package var doubts: Doubts = []
  /// SHA-256 of each slot, class key and set row, by table and key, to notice a row from an earlier copy.
  var rows: [String: [UInt8]] = [:]
  /// The adapter that `auto` means, recorded at the first enrolment.
  package var adapter: ReaderAdapter?
  /// Random bytes, renewed by each commit that has a number in the machine's record. They distinguish copies of a store
  /// that were changed separately, even after the same number of commits. Empty before the first such commit.
  var lineage: [UInt8] = []
  /// The lineage that the machine's record had at that commit.
  var recordedLineage: [UInt8] = []
  /// Wrong application passwords in a row, by the id of the item.
  package var passwords: [[UInt8]: Tries] = [:]

  /// The parts that may be outdated, since no record proves otherwise. Kept until the restore is accepted.
  package struct Doubts: OptionSet {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The passcode: accepting the restore takes the recovery key, and a new passcode is set.
    package static let slots = Doubts(rawValue: 1)
    /// The enrolment sets: their fingers must be enrolled again.
    package static let sets = Doubts(rawValue: 2)
    /// The record itself did not verify, so there are no digests to compare rows with.
    package static let rows = Doubts(rawValue: 4)
  }

  /// A table whose rows have digests in the record.
  package enum Table: String {
    case slots = "slot "
    case sets = "set "
  }

  /// Whether the owner may prove their presence in another way than with the earlier record: with other fingers or another
  /// passcode, or after a lockout has begun or ended.
  func provesOtherwise(than old: Authority) -> Bool {
    lockout.lockedOut != old.lockout.lockedOut || rows != old.rows || restored != old.restored || doubts != old.doubts
      || adapter != old.adapter
  }

  /// A digest over all digests of a table.
  package func digest(of table: Table) -> [UInt8] {
    var digests = CanonicalEncoding()
    for (name, digest) in rows.sorted(by: { $0.key < $1.key }) where name.hasPrefix(table.rawValue) {
      digests.append(tag: 1, name)
      digests.append(tag: 2, digest)
    }
    return Digest.sha256(digests.bytes)
  }

  private enum Tag {
    static let sequence: UInt8 = 1
    static let failures: UInt8 = 2
    static let pending: UInt8 = 3
    static let passcodeFailures: UInt8 = 4
    static let delayBoot: UInt8 = 5
    static let delayUntil: UInt8 = 6
    static let restored: UInt8 = 7
    static let rows: UInt8 = 9
    static let name: UInt8 = 10
    static let digest: UInt8 = 11
    static let adapter: UInt8 = 12
    static let doubts: UInt8 = 13
    static let passwords: UInt8 = 14
    static let item: UInt8 = 15
    static let lineage: UInt8 = 16
    static let recordedLineage: UInt8 = 17
  }

  private static func aad(_ keys: borrowing RootKeys) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, UInt64(StoreDatabase.format))
    aad.append(tag: 2, keys.databaseID)
    aad.append(tag: 3, "authority")
    return aad.bytes
  }

  package func sealed(_ keys: borrowing RootKeys) throws(VaultError) -> [UInt8] {
    var record = CanonicalEncoding()
    record.append(tag: Tag.sequence, sequence)
    record.append(tag: Tag.failures, UInt64(lockout.failures))
    record.append(tag: Tag.pending, lockout.pending)
    record.append(tag: Tag.passcodeFailures, UInt64(lockout.passcode.failures))
    record.append(tag: Tag.delayBoot, lockout.passcode.boot)
    record.append(tag: Tag.delayUntil, lockout.passcode.until)
    record.append(tag: Tag.restored, UInt64(restored ? 1 : 0))
    record.append(tag: Tag.doubts, doubts.rawValue)
    record.append(tag: Tag.rows, UInt64(rows.count))
    for (name, digest) in rows.sorted(by: { $0.key < $1.key }) {
      record.append(tag: Tag.name, name)
      record.append(tag: Tag.digest, digest)
    }
    // Optional fields, which were added to the format later.
    if let adapter { record.append(tag: Tag.adapter, adapter.rawValue) }
    if !passwords.isEmpty {
      record.append(tag: Tag.passwords, UInt64(passwords.count))
      for (item, tries) in passwords.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        record.append(tag: Tag.item, item)
        record.append(tag: Tag.passcodeFailures, UInt64(tries.failures))
        record.append(tag: Tag.delayBoot, tries.boot)
        record.append(tag: Tag.delayUntil, tries.until)
      }
    }
    if !lineage.isEmpty {
      record.append(tag: Tag.lineage, lineage)
      record.append(tag: Tag.recordedLineage, recordedLineage)
    }
    return try sealRecord(record.bytes, key: keys.authority, aad: Self.aad(keys))
  }

  /// Nil if the box does not verify: the row was edited, or belongs to another store.
  package init?(box: [UInt8], keys: borrowing RootKeys) {
    guard let bytes = try? openRecord(box, key: keys.authority, aad: Self.aad(keys)) else { return nil }
    var record = CanonicalDecoder(bytes)
    do {
      sequence = try record.number(Tag.sequence)
      lockout.failures = UInt32(truncatingIfNeeded: try record.number(Tag.failures))
      lockout.pending = try record.bytes(Tag.pending)
      lockout.passcode.failures = UInt32(truncatingIfNeeded: try record.number(Tag.passcodeFailures))
      lockout.passcode.boot = try record.string(Tag.delayBoot)
      lockout.passcode.until = try record.number(Tag.delayUntil)
      restored = try record.number(Tag.restored) != 0
      doubts = Doubts(rawValue: try record.number(Tag.doubts))
      rows = try Self.digests(Tag.rows, &record)
      if record.nextTag == Tag.adapter {
        adapter = ReaderAdapter(rawValue: try record.string(Tag.adapter))
        guard adapter != nil else { return nil }
      }
      if record.nextTag == Tag.passwords { passwords = try Self.passwords(&record) }
      if record.nextTag == Tag.lineage {
        lineage = try record.bytes(Tag.lineage)
        recordedLineage = try record.bytes(Tag.recordedLineage)
      }
      guard record.isAtEnd else { return nil }
    } catch {
      return nil
    }
  }

  private static func digests(_ tag: UInt8, _ record: inout CanonicalDecoder) throws(CanonicalDecoder.Unexpected)
    -> [String: [UInt8]]
  {
    var digests: [String: [UInt8]] = [:]
    for _ in 0..<(try record.number(tag)) {
      let name = try record.string(Tag.name)
      digests[name] = try record.bytes(Tag.digest)
    }
    return digests
  }

  private static func passwords(_ record: inout CanonicalDecoder) throws(CanonicalDecoder.Unexpected)
    -> [[UInt8]: Tries]
  {
    var passwords: [[UInt8]: Tries] = [:]
    for _ in 0..<(try record.number(Tag.passwords)) {
      let item = try record.bytes(Tag.item)
      passwords[item] = Tries(
        failures: UInt32(truncatingIfNeeded: try record.number(Tag.passcodeFailures)),
        boot: try record.string(Tag.delayBoot), until: try record.number(Tag.delayUntil))
    }
    return passwords
  }

  package init() {}

  /// Which number of the machine's record must advance when this record replaces an older one of the same store; nil if
  /// an attacker gains nothing by undoing this change. Lower counts of failures need no number, since an earlier copy
  /// has higher ones.
  func number(after old: Authority) -> MachineRecord.Number? {
    var same = self
    same.sequence = old.sequence
    same.lockout = old.lockout
    same.passwords = old.passwords
    guard same == old, lockout.passcode.failures <= old.lockout.passcode.failures,
      passwords.allSatisfy({ $0.value.failures <= old.passwords[$0.key]?.failures ?? 0 })
    else { return .changes }
    return lockout.failures > old.lockout.failures ? .touches : nil
  }

  /// Marks this record as older than the manifest. Slots and sets are trusted only if the manifest has the same digests
  /// of them.
  mutating func isOlder(than manifest: Manifest) {
    restored = true
    if manifest.slots != digest(of: .slots) { doubts.insert(.slots) }
    if manifest.sets != digest(of: .sets) { doubts.insert(.sets) }
    lockout.raise(touches: manifest.failures, passcodes: manifest.passcodeFailures)
  }

  /// Throws while a detected restore is not accepted.
  ///
  /// - Parameter isOpen: whether the request needs neither finger nor passcode, so that no restored one can satisfy it.
  package func requireNoRestore(unless isOpen: Bool) throws(VaultError) {
    guard !restored || isOpen else { throw .restoreDetected }
  }
}

extension Manifest {
  package init(of authority: Authority, box: [UInt8]) {
    self.init(of: authority, digest: Digest.sha256(box))
  }

  init(of authority: Authority, digest: [UInt8]) {
    self.init(
      sequence: authority.sequence, failures: authority.lockout.failures,
      passcodeFailures: authority.lockout.passcode.failures, digest: digest,
      slots: authority.doubts.contains(.slots) ? Self.unknown : authority.digest(of: .slots),
      sets: authority.doubts.contains(.sets) ? Self.unknown : authority.digest(of: .sets))
  }
}

/// Seals bytes that need no protection in memory, but must not be read or changed on the disk.
package func sealRecord(_ bytes: [UInt8], key: borrowing SecretBytes, aad: [UInt8]) throws(VaultError) -> [UInt8] {
  let plaintext = SecretBytes(copying: bytes.span)
  do {
    return try AEAD.seal(plaintext, key: key, aad: aad)
  } catch {
    throw VaultError(cause: error)
  }
}

/// Opens bytes that ``sealRecord(_:key:aad:)`` sealed.
package func openRecord(_ box: [UInt8], key: borrowing SecretBytes, aad: [UInt8]) throws(KeysError) -> [UInt8] {
  try AEAD.open(box, key: key, aad: aad).withUnsafeBytes { Array($0) }
}
