package import Keys
package import SecretModel
package import SecureMemory

extension StoreCreation {
  /// Makes a new store of a backup, beside its place, with the recovery key. Its fingers, passcode and items are those
  /// of the backup. It gets a new key file.
  ///
  /// - Parameters:
  ///   - file: the backup, open for reading, borrowed for the call.
  ///   - quota: the most bytes of a store; nil: no limit.
  /// - Returns: the store, which must be kept with ``NewStore/keep()``.
  /// - Throws: `storeExists` where its place is taken, `wrongRecoveryKey`, `malformedRecoveryKey`; `fileUnreadable`,
  ///   `newerFormat` and `olderFormat` for other files.
  package static func newStore(
    at path: String, from file: Int32, recoveryKey text: consuming SecretBytes, owner: UInt32,
    floor: Scrypt.Floor = .standard, quota: Int? = nil
  ) throws(VaultError) -> NewStore {
    let backup = try BackupFile(from: file)
    try backup.head.require(owner: owner)
    if let quota, backup.size > quota + quota / 8 { throw .storeFull(limit: quota) }
    let id = backup.head.databaseID
    let root = try backup.head.recovery.unwrap(
      under: RecoveryKey.slotKey(of: text), databaseID: id, otherwise: .wrongRecoveryKey)
    let new = try NewStore(at: path)
    let keys = try RootKeys(root: root, databaseID: id)
    try backup.open(into: new.directory.database, keys)
    let store = Store(
      directory: new.directory, database: try StoreDatabase(at: new.directory.database), keys: keys, owner: owner,
      clock: .system, floor: floor, classKeys: ClassKeys())
    try store.writeManifest()
    do {
      let deviceKey = try Random.key(DeviceKey.count)
      try DeviceKey.write(deviceKey, in: new.directory)
      try store.commit { change in
        try change.put(Slot(.device, wrapping: store.keys.root, under: deviceKey, databaseID: id))
        // The right recovery key clears every count of failures.
        change.authority.lockout.clear()
      }
      store.database.close()
      try new.directory.sync()
    } catch {
      throw VaultError(storage: error)
    }
    return new
  }
}
