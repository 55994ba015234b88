package import Keys
import Presence
package import SecretModel
package import SecureMemory
import VaultItems
package import VaultStore

extension StoreCreation {
  /// Makes a new store of a backup, beside its place, with the recovery key. Its fingers, passcode and items are those
  /// of the backup. It gets a new device slot, as a store that no longer opens does (``RootStorage/seal(replacing:)``).
  /// A passcode whose slot also needs another TPM or credential opens nothing here, until a new one is set with the
  /// recovery key.
  ///
  /// - Parameters:
  ///   - file: the backup, open for reading, borrowed for the call.
  ///   - owner: who makes the store.
  ///   - takesOthers: whether the backup may be another user's. The store then stays bound to that user
  ///     (``StoreOwner``). Only for a private store, where the user has the files and the recovery key.
  ///   - quota: the most bytes of a store; nil: no limit.
  ///   - storage: where the key of the device slot is kept.
  /// - Returns: the store, which must be kept with ``NewStore/keep()``.
  /// - Throws: `storeExists` where its place is taken, `wrongRecoveryKey`, `malformedRecoveryKey`; `fileUnreadable`,
  ///   `newerFormat` and `olderFormat` for other files; `tpm` and `credential` where the store would get a lower tier
  ///   that nobody chose.
  package static func newStore(
    at path: String, from file: Int32, recoveryKey text: consuming SecretBytes, owner user: UInt32,
    takesOthers: Bool = false, floor: Scrypt.Floor = .standard, quota: Int? = nil, storage: RootStorage = .keyFile
  ) throws(VaultError) -> NewStore {
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
      try store.commit { change in
        try change.put(device)
        // The store that was backed up may live on: two must not have the keys of one member.
        try change.leaveCircle()
        // The right recovery key clears every count of failures.
        change.authority.lockout.clear()
      }
      store.database.close()
      if let rollback = storage.rollback(of: seal) { new.cover(by: rollback, id, try store.lastManifest()) }
      try new.directory.sync()
    } catch {
      throw VaultError(cause: error)
    }
    return new
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
