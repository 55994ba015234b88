import GRDB
package import Keys
import Presence
package import Primitives
package import SecretModel
import VaultItems
package import VaultStore

/// Writes backups of an open store, and restores them into it.
struct Backups {
  let passcodes: Passcodes

  private var store: Store { passcodes.store }

  // MARK: Writing

  /// Writes a backup of the store's state at one moment into an empty file, and syncs the file. Asks nobody.
  ///
  /// - Throws: `restoreDetected` where an earlier copy was put back and is not accepted.
  func write(to file: Int32) throws(VaultError) {
    let copy = try NewStore(beside: store.directory.path)
    defer { withExtendedLifetime(copy) {} }
    let recovery = try store.read { snapshot in
      guard !snapshot.authority.restored else { throw VaultError.restoreDetected }
      guard let slot = try snapshot.slot(.recovery) else { throw VaultError.storeDamaged("it has no recovery slot") }
      // The copy is consistent: it is made under the commit lock and within a transaction.
      let target = try OpenDatabase(at: copy.directory.database)
      try target.queue.writeWithoutTransaction { try snapshot.db.backup(to: $0) }
      try target.queue.close()
      return slot
    }
    let backup = try BackupFile(to: file, of: store, recovery: recovery)
    let database = try StoreDatabase(at: copy.directory.database)
    defer { database.close() }
    try backup.seal(database, store.keys)
  }

  // MARK: Restoring

  /// What restoring a backup would change. Asks nobody.
  func contents(of file: Int32) throws(VaultError) -> BackupContents {
    let backup = try opened(file)
    // Keep this value until the end: freeing it closes and removes the database.
    defer { withExtendedLifetime(backup) {} }
    return try backup.store.read { old in
      try store.read { now in
        try Self.requireWhole(now)
        return try BackupComparison(now: now, backup: old).contents()
      }
    }
  }

  /// Replaces the items of the store by those of a backup, in one transaction, with the passcode or the recovery key
  /// (``BackupContents/proof``). Returns the items that came back dead.
  ///
  /// Fingers, passcode, recovery key and counts of failures stay those of the store. So no removed finger, earlier
  /// passcode or lower count comes back, and items that only those would open are dead.
  ///
  /// - Throws: `busy` where store or backup have changed since the contents were shown.
  func restore(_ file: Int32, accepting id: BackupContents.ID, _ context: Context) async throws(VaultError)
    -> [ItemName]
  {
    let shown = try contents(of: file)
    guard shown.id == id else { throw .backupChanged }
    var passcode: ProvenPasscode?
    var recoveryKey: ProvenRecoveryKey?
    switch shown.proof {
    case .passcode: passcode = try await passcodes.prove(context)
    case .recoveryKey: recoveryKey = try await passcodes.proveRecoveryKey(context)
    }
    let backup = try opened(file)
    defer { withExtendedLifetime(backup) {} }
    let lost = try backup.store.read { old in
      try store.commit { now in
        try Self.requireWhole(now)
        guard try BackupComparison(now: now, backup: old).id() == id else { throw VaultError.backupChanged }
        try passcode?.requireCurrent(now)
        try recoveryKey?.requireCurrent(now)
        // Like the right passcode, the right recovery key clears every count.
        now.authority.lockout.clear()
        return try now.replaceItems(by: old, recoveryKey: recoveryKey?.key)
      }
    }
    // The log may still hold the replaced secrets and their keys.
    store.database.forgetOldPages()
    return lost
  }

  /// Refuses a store with a set that cannot be read: items of the backup may be bound to that set.
  private static func requireWhole(_ now: StoreSnapshot) throws {
    guard !now.authority.restored else { throw VaultError.restoreDetected }
    guard try now.damagedSets() == 0 else {
      throw VaultError.storeDamaged("the record of an enrolment set does not verify")
    }
  }

  /// The store in a backup, as a private copy that lives as long as the result.
  private func opened(_ file: Int32) throws(VaultError) -> OpenedBackup {
    let backup = try BackupFile(from: file)
    try backup.head.require(owner: store.owner)
    guard backup.head.databaseID == store.keys.databaseID else {
      throw .fileUnreadable("it is a backup of another store than the one that is in place")
    }
    if let quota = store.database.quota, backup.size > quota + quota / 8 { throw .storeFull(limit: quota) }
    let keys = try RootKeys(root: store.keys.root.copy(), databaseID: store.keys.databaseID)
    return try OpenedBackup(backup, in: NewStore(beside: store.directory.path), keys, of: store)
  }
}

extension VaultError {
  fileprivate static let backupChanged = busy("the store or the backup changed meanwhile")
}

/// The store in a backup, in a private folder that is removed with this value.
final class OpenedBackup {
  let store: Store
  private let folder: NewStore

  init(_ backup: BackupFile, in folder: NewStore, _ keys: consuming RootKeys, of present: Store) throws(VaultError) {
    self.folder = folder
    let database = try backup.open(into: folder.directory.database, keys, quota: present.database.quota)
    store = Store(
      directory: folder.directory, database: database, keys: keys,
      owner: present.owner, clock: present.clock, floor: present.floor, classKeys: present.classKeys,
      seal: present.seal)
    try store.writeManifest()
  }

  deinit {
    store.database.close()
    folder.discard()
  }
}

extension Store {
  /// Writes the manifest of a database that was just opened from a backup, which is authenticated as a whole.
  func writeManifest() throws(VaultError) {
    do {
      let box = try database.queue.read { try Row.fetchOne($0, sql: "SELECT authority FROM store") }?.bytes(0) ?? []
      guard let authority = Authority(box: box, keys: keys) else {
        throw VaultError.storeDamaged("the record in the backup does not verify")
      }
      try Manifest(of: authority, box: box).write(to: directory.manifest, key: keys.manifest)
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension StoreCreation {
  /// Makes a new store of a backup, beside its place, with the recovery key. Its fingers, passcode and items are those
  /// of the backup. It gets a new device slot, as a store that no longer opens does (``RootStorage/seal(replacing:)``).
  /// A passcode whose slot also needs another TPM or credential opens nothing here, until a new one is set with the
  /// recovery key. Nothing shows that the backup was made by this person, so what a login would run, set or write is
  /// left out.
  ///
  /// - Parameters:
  ///   - file: the backup, open for reading, borrowed for the call.
  ///   - owner: who makes the store.
  ///   - takesOthers: whether the backup may be another user's. The store then stays bound to that user
  ///     (``StoreOwner``). Only for a private store, where the user has the files and the recovery key.
  ///   - quota: the most bytes of a store; nil: no limit.
  ///   - storage: where the key of the device slot is kept.
  /// - Returns: the store, which must be kept with ``NewStore/keep()``, and the names of the login's entries that were
  ///   left out.
  /// - Throws: `storeExists` where its place is taken, `wrongRecoveryKey`, `malformedRecoveryKey`; `fileUnreadable`,
  ///   `newerFormat` and `olderFormat` for other files; `tpm` and `credential` where the store would get a lower tier
  ///   that nobody chose.
  package static func newStore(
    at path: String, from file: Int32, recoveryKey text: consuming SecretBytes, owner user: UInt32,
    takesOthers: Bool = false, floor: Scrypt.Floor = .standard, quota: Int? = nil, storage: RootStorage = .keyFile
  ) throws(VaultError) -> (store: NewStore, leftOut: [ItemName]) {
    let (backup, owner) = try restorable(file, owner: user, takesOthers: takesOthers, quota: quota)
    let id = backup.head.databaseID
    let root = try root(of: backup, by: text)
    let new = try NewStore(at: path)
    let keys = try RootKeys(root: root, databaseID: id)
    let database = try backup.open(into: new.directory.database, keys, quota: quota)
    let seal = try storage.seal(replacing: try database.deviceSlot())
    let store = Store(
      directory: new.directory, database: database, keys: keys, owner: owner, clock: .system, floor: floor,
      classKeys: ClassKeys(), seal: seal)
    try store.writeManifest()
    if owner != user { try StoreOwner.note(owner, in: new.directory) }
    do {
      let device = try DeviceSlot.slot(wrapping: store.keys.root, of: id, in: new.directory, seal)
      let leftOut = try store.commit { change in
        try change.put(device)
        // The store that was backed up may live on: two must not have the keys of one member.
        try change.leaveCircle()
        // The right recovery key clears every count of failures.
        change.authority.lockout.clear()
        try change.indexItemsAgain()
        return try change.removeLoginDeliveries()
      }
      store.database.close()
      if let rollback = storage.rollback(of: seal) { new.cover(by: rollback, id, try store.lastManifest()) }
      try new.directory.sync()
      return (new, leftOut)
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// Refuses an unusable backup, and a text that is not its recovery key, as far as this can be told without opening
  /// the contents. Call it before asking for a password.
  ///
  /// - Throws: `malformedRecoveryKey` only if nothing else is wrong that can be told without the key.
  package static func check(
    backup file: Int32, recoveryKey text: borrowing SecretBytes, owner: UInt32, quota: Int? = nil
  ) throws(VaultError) {
    _ = try root(of: try restorable(file, owner: owner, takesOthers: false, quota: quota).0, by: text)
  }

  /// The root key of the store that was backed up, by its recovery key.
  private static func root(
    of backup: BackupFile, by recoveryKey: borrowing SecretBytes
  ) throws(VaultError) -> SecretBytes {
    try backup.head.recovery.unwrap(
      under: RecoveryKey.slotKey(of: recoveryKey), databaseID: backup.head.databaseID, otherwise: .wrongRecoveryKey)
  }

  private static func restorable(
    _ file: Int32, owner user: UInt32, takesOthers: Bool, quota: Int?
  ) throws(VaultError) -> (BackupFile, owner: UInt32) {
    let backup = try BackupFile(from: file)
    if !takesOthers { try backup.head.require(owner: user) }
    guard let owner = UInt32(exactly: backup.head.owner) else { throw .noBackup }
    if let quota, backup.size > quota + quota / 8 { throw .storeFull(limit: quota) }
    return (backup, owner)
  }
}
