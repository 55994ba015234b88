// VaultStore: the store of a vault, below all that asks a person. Begin with `Store`, its transactions. `Rows` has the
// tables, `Records` what is sealed in a row of an item, `KeyHierarchy` the keys from the device's slot down to the classes of
// items, `Rollback` what notices an earlier copy, `Policy` what an item requires and how wrong tries are counted, `TPM` what the
// machine's TPM keeps.

import Dispatch
package import GRDB
import Glibc
package import Keys
package import Primitives
@_exported public import SecretModel
import Synchronization

/// The transactions that read and change an open store. Confined to the vault's actor.
///
/// Every read sees database and manifest in the same state. Every change is one transaction, whose number is written to
/// the manifest before the next one starts.
package final class Store: OpenedStore {
  package let database: StoreDatabase
  /// Notices that the whole store was put back; nil in a store without a TPM, and while a store is made.
  private var rollback: RollbackGuard?
  /// A state that could not be written to the machine's record; the next commit writes it first.
  private var unrecorded: (entry: MachineRecord.Entry, number: MachineRecord.Number)?
  /// The state of manifests that are synced after the caller has its answer.
  private let syncing = Syncing()
  private var lastOpened: (box: [UInt8], authority: Authority, digest: [UInt8])?
  private let manifests: ManifestReader
  /// Grows with each change of the records of the circle.
  package let recordChanges = GrowingCount()

  package init(
    directory: StoreDirectory, database: StoreDatabase, keys: consuming RootKeys, owner: UInt32,
    clock: BootClock, floor: Scrypt.Floor, classKeys: ClassKeys, seal: DeviceSeal, rollback: RollbackGuard? = nil
  ) {
    self.database = database
    self.rollback = rollback
    manifests = ManifestReader(of: directory.manifest)
    super.init(
      directory: directory, keys: keys, owner: owner, clock: clock, floor: floor, classKeys: classKeys, seal: seal)
  }

  /// Reads the store in one transaction.
  package func read<T>(_ body: (StoreSnapshot) throws -> T) throws(VaultError) -> T {
    // A shared lock. A writer holds it exclusively from before its commit until the manifest is written.
    let lock = try FileLock.brief(directory.commitLock, .shared)
    defer { withExtendedLifetime(lock) {} }
    do {
      // Not `read`, which takes two more statements to make the connection read-only and back.
      return try database.queue.inDatabase { db in
        try db.inPreparedTransaction(.deferred) { try body(StoreSnapshot(of: self, db, try authority(db).current)) }
      }
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// Makes one atomic change. `evenRestored` allows it before a restore is accepted.
  ///
  /// If the manifest cannot be written after the commit, the next commit writes it first, and is refused if that fails
  /// again. A `charge`, which must not be undone by a restore, fails without its manifest. If only `items` change, the
  /// caller does not wait until the manifest is on the disk: after a power cut it may be one commit behind, as after a
  /// crash between the two, and the next commit waits for it first.
  package func commit<T>(
    evenRestored: Bool = false, charge: Bool = false, items: Bool = false,
    _ body: (StoreTransaction) throws -> T
  ) throws(VaultError) -> T {
    let lock = try FileLock.brief(directory.commitLock, .exclusive)
    defer { withExtendedLifetime(lock) {} }
    try recordLeft()
    let made = try transact(evenRestored: evenRestored, charge: charge, items: items, body)
    if made.provesOtherwise { classKeys.changes.increment() }
    if made.changesRecords { recordChanges.increment() }
    if let number = made.number { try record(made.entry, as: number, orFail: charge) }
    return made.result
  }

  /// A committed change.
  private struct Made<T> {
    let result: T
    let manifest: Manifest
    /// ``Authority/lineage`` after the change.
    let lineage: [UInt8]
    /// Which number of the machine's record the change advances; nil for none.
    let number: MachineRecord.Number?
    let provesOtherwise: Bool
    let changesRecords: Bool

    var entry: MachineRecord.Entry { MachineRecord.Entry(manifest: manifest, lineage: lineage) }
  }

  /// The commit without the machine's record.
  private func transact<T>(
    evenRestored: Bool, charge: Bool, items: Bool, _ body: (StoreTransaction) throws -> T
  ) throws(VaultError) -> Made<T> {
    do {
      var stored = lastOpened
      let made = try database.queue.writeWithoutTransaction { db in
        try db.inPreparedTransaction(.immediate) {
          let (current, highest, lagging) = try self.authority(db)
          guard evenRestored || !current.restored else { throw VaultError.restoreDetected }
          // The manifest may be one commit behind, never two: write it before the next commit.
          if let lagging { try lagging.write(to: directory.manifest, key: keys.manifest) }
          try settle(highest)
          let change = StoreTransaction(of: self, db, current)
          let result = try body(change)
          var authority = change.authority
          let (next, overflow) = highest.addingReportingOverflow(1)
          guard !overflow else { throw VaultError.storeDamaged("its number of commits is the last one") }
          authority.sequence = next
          let number = try number(of: authority, after: current)
          if number != nil { try beginLineage(of: &authority) }
          let box = try authority.sealed(keys)
          try db.cachedStatement(sql: "UPDATE store SET authority = ?").execute(arguments: [box.data])
          let digest = Digest.sha256(box)
          stored = (box, authority, digest)
          return Made(
            result: result, manifest: Manifest(of: authority, digest: digest), lineage: authority.lineage,
            number: number, provesOtherwise: authority.provesOtherwise(than: current),
            changesRecords: change.changesRecords)
        }
      }
      let written = Result { try made.manifest.write(to: directory.manifest, key: keys.manifest, syncing: !items) }
      if charge { try written.get() }
      if !items, (try? written.get()) != nil {
        syncing.done.store(made.manifest.sequence, ordering: .releasing)
      }
      if items { syncSoon(made.manifest.sequence) }
      lastOpened = stored
      return made
    } catch {
      throw database.error(error)
    }
  }

  /// Waits until the manifest of the previous commit, by any program, is on the disk. After a failed sync the state of
  /// the disk is unknown, so this program stores nothing more.
  private func settle(_ sequence: UInt64) throws(VaultError) {
    guard !syncing.failed.load(ordering: .acquiring) else {
      throw .inputOutput("\(directory.manifest) cannot be kept on the disk")
    }
    guard syncing.done.load(ordering: .acquiring) != sequence else { return }
    try Manifest.sync(directory.manifest)
  }

  private func syncSoon(_ sequence: UInt64) {
    syncing.queue.async { [syncing, manifest = directory.manifest] in
      if (try? Manifest.sync(manifest)) != nil {
        syncing.done.store(sequence, ordering: .releasing)
      } else {
        syncing.failed.store(true, ordering: .releasing)
      }
    }
  }

  /// Decodes the record in a box, with the box's digest. Caches the last one, since most reads find the same box.
  private func opened(_ box: [UInt8]) -> (Authority, digest: [UInt8])? {
    if let lastOpened, lastOpened.box == box { return (lastOpened.authority, lastOpened.digest) }
    guard let authority = Authority(box: box, keys: keys) else { return nil }
    let digest = Digest.sha256(box)
    lastOpened = (box, authority, digest)
    return (authority, digest)
  }

  /// The authority record after comparison with the manifest and the machine's record, the highest sequence number of
  /// all, and the manifest that is still to be written after a crash.
  private func authority(_ db: Database) throws -> (current: Authority, highest: UInt64, lagging: Manifest?) {
    let box = try Row.fetchOne(db.cachedStatement(sql: "SELECT authority FROM store"))?.bytes(0) ?? []
    let (found, highest, lagging) = try compareWithManifest(box)
    guard let rollback else { return (found, highest, lagging) }
    var authority = found
    let entry = try rollback.entry(of: keys.databaseID)
    // Without an entry, or after a loss of power, touches that failed may not be counted.
    if entry?.areTouchesUnknown ?? true { authority.lockout.assumeWorstOfTouches() }
    guard let entry else {
      authority.restored = true
      return (authority, highest, nil)
    }
    let last = entry.manifest
    let isSame = last.sequence == found.sequence && last.digest == Digest.sha256(box)
    // The store may be later than its entry: only items were changed since, or power was lost before the entry was
    // written.
    let isLater =
      last.sequence < found.sequence
      && (found.lineage == entry.lineage || (!found.lineage.isEmpty && found.recordedLineage == entry.lineage))
    guard !isSame, !isLater else { return (authority, highest, lagging) }
    authority.isOlder(than: last)
    return (authority, max(highest, last.sequence), nil)
  }

  private func compareWithManifest(_ box: [UInt8]) throws -> (current: Authority, highest: UInt64, lagging: Manifest?) {
    let manifest = try manifests.newest(key: keys.manifest)
    guard let (known, digest) = opened(box) else {
      // Without a valid record the manifest proves nothing, since it may also be from an earlier copy.
      var unknown = Authority()
      unknown.restored = true
      unknown.doubts = [.slots, .sets, .rows]
      unknown.lockout.assumeWorst()
      return (unknown, manifest?.sequence ?? 0, nil)
    }
    var authority = known
    guard let manifest else {
      authority.restored = true
      // The counts since this copy of the database are unknown.
      authority.lockout.assumeWorst()
      return (authority, authority.sequence, nil)
    }
    if manifest.sequence == authority.sequence, manifest.digest == digest {
      return (authority, authority.sequence, nil)
    }
    if manifest.sequence + 1 == authority.sequence {
      return (authority, authority.sequence, Manifest(of: authority, digest: digest))
    }
    if manifest.sequence >= authority.sequence {
      authority.isOlder(than: manifest)
    } else {
      authority.restored = true
      authority.lockout.raise(touches: manifest.failures, passcodes: manifest.passcodeFailures)
    }
    return (authority, max(authority.sequence, manifest.sequence), nil)
  }
}

/// The machine's record.
extension Store {
  /// Writes the current state of a store to the machine's record, before the store moves to the TPM.
  package func cover(by rollback: RollbackGuard?) throws(VaultError) {
    guard self.rollback == nil, let rollback else { return }
    let lineage = try read { snapshot in snapshot.authority.lineage }
    self.rollback = rollback
    do throws(VaultError) {
      try record(MachineRecord.Entry(manifest: lastManifest(), lineage: lineage), as: .changes)
    } catch {
      self.rollback = nil
      unrecorded = nil
      throw error
    }
  }

  /// Sets what the store's keys are sealed in from now on. A store outside the TPM is no longer recorded.
  package func isSealed(in seal: DeviceSeal) {
    self.seal = seal
    guard seal.tpm == nil else { return }
    (rollback, unrecorded) = (nil, nil)
  }

  /// Records the state after a commit. If this fails, a charge fails; any other change stays committed, and the store
  /// is then later than its entry.
  private func record(
    _ entry: MachineRecord.Entry, as number: MachineRecord.Number, orFail: Bool
  ) throws(VaultError) {
    do throws(VaultError) {
      try record(entry, as: number)
    } catch {
      if orFail { throw error }
    }
  }

  /// Records a state that could not be recorded after its commit.
  private func recordLeft() throws(VaultError) {
    if let unrecorded { try record(unrecorded.entry, as: unrecorded.number) }
  }

  private func record(_ entry: MachineRecord.Entry, as number: MachineRecord.Number) throws(VaultError) {
    unrecorded = (entry, number)
    try rollback?.record(entry, of: keys.databaseID, as: number)
    unrecorded = nil
  }

  private func beginLineage(of authority: inout Authority) throws(VaultError) {
    authority.recordedLineage = try rollback?.entry(of: keys.databaseID)?.lineage ?? []
    authority.lineage = randomID()
  }

  /// The manifest beside the database.
  package func lastManifest() throws(VaultError) -> Manifest {
    guard let manifest = try manifests.newest(key: keys.manifest) else {
      throw .restoreDetected
    }
    return manifest
  }

  /// Which number of the machine's record a commit advances. Nil if only items change, or if undoing the change would
  /// only bring back higher counts of failures.
  private func number(of authority: Authority, after old: Authority) throws(VaultError) -> MachineRecord.Number? {
    guard let rollback else { return nil }
    if let number = authority.number(after: old) { return number }
    // This commit stores the count of touches that was only assumed so far.
    return try rollback.entry(of: keys.databaseID)?.areTouchesUnknown == true ? .touches : nil
  }
}

/// The state of manifests that are synced in the background.
private final class Syncing: Sendable {
  let queue = DispatchQueue(label: "whorl.manifest")
  let failed = Atomic(false)
  /// The number of the last commit of this program whose manifest is known to be on the disk.
  let done = Atomic<UInt64>(0)
}

/// The store as one transaction sees it: its rows, and the authority record that authenticates them. Valid only inside
/// the closure that it is passed to.
package class StoreSnapshot {
  package let store: OpenedStore
  package let db: Database
  fileprivate var record: Authority

  init(of store: OpenedStore, _ db: Database, _ authority: Authority) {
    self.store = store
    self.db = db
    record = authority
  }

  /// The authority record as it was when the transaction began.
  package var authority: Authority { record }
}

/// A transaction that may write the store's rows and the authority record. It is committed as a whole or not at all.
package final class StoreTransaction: StoreSnapshot {
  /// Whether records of the circle were changed.
  package var changesRecords = false

  package override var authority: Authority {
    get { record }
    set { record = newValue }
  }
}

/// An open store without its rows: its folder, its root keys and its owner. Inside a transaction only this is in reach,
/// so that no transaction can begin another one.
package class OpenedStore {
  package let directory: StoreDirectory
  package let keys: RootKeys
  /// The owner of the items and fingers.
  package let owner: UInt32
  package let clock: BootClock
  /// The lowest permitted cost of scrypt; lower in tests alone.
  package let floor: Scrypt.Floor
  /// Which classes of items are open.
  package let classKeys: ClassKeys
  /// What the keys of the device slot and the passcode's slot are sealed in.
  package internal(set) var seal: DeviceSeal
  /// The records that were opened last.
  var openedRecords = OpenedRecords()

  init(
    directory: StoreDirectory, keys: consuming RootKeys, owner: UInt32, clock: BootClock, floor: Scrypt.Floor,
    classKeys: ClassKeys, seal: DeviceSeal
  ) {
    self.directory = directory
    self.keys = keys
    self.owner = owner
    self.clock = clock
    self.floor = floor
    self.classKeys = classKeys
    self.seal = seal
  }
}

/// Updates whether the user's login sessions are locked, for the classes of items that depend on it.
package struct SessionLock {
  let gate: any SessionGate
  let store: Store

  package init(gate: any SessionGate, store: Store) {
    self.gate = gate
    self.store = store
  }

  /// Asks the gate for the state of the sessions. Call it before items are read.
  package func follow() async {
    let locks = store.classKeys.locks
    let unlocked = await gate.isUnlocked(store.owner)
    store.classKeys.note(sessionsUnlocked: unlocked, asOf: locks)
  }
}
