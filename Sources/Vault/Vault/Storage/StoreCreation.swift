import GRDB
import Glibc
package import Keys
import Presence
package import Primitives
import VaultItems
package import VaultStore

/// Creates stores and their key files.
package enum StoreCreation {
  /// Makes a new store beside its place. Without a passcode the root key has two slots: one for the key file,
  /// credential or TPM, and one for the recovery key. A passcode can be set later.
  ///
  /// - Parameters:
  ///   - floor: the lowest permitted cost of scrypt; lower in tests alone.
  ///   - shortestPasscode: the fewest bytes of a passcode.
  ///   - allowsGuessable: whether to accept a passcode that a day of guesses would find, in a store whose copies allow
  ///     unlimited guesses.
  ///   - classKeys: says what the store's first unlock requires. The new store stays unlocked as long as the caller
  ///     keeps this value.
  ///   - storage: where the key of the device slot is kept.
  /// - Returns: the store, which must be kept with ``NewStore/keep()``, and the text of the recovery key, which is
  ///   shown once and kept nowhere.
  /// - Throws: `storeExists` where its place is taken, `invalidPasscode`, `guessablePasscode`, `passcodeNotSet` where the first unlock
  ///   requires a passcode, `tpm` and `credential` where the TPM cannot be used or the credential that the settings
  ///   require is missing: the store does not get a key file instead.
  package static func newStore(
    at path: String, passcode: consuming SecretBytes?, owner: UInt32 = geteuid(), scrypt: ScryptQueue = ScryptQueue(),
    floor: Scrypt.Floor = .standard, shortestPasscode: Int = PasscodeRule.shortestByDefault,
    allowsGuessable: Bool = false, classKeys: ClassKeys = ClassKeys(), storage: RootStorage = .keyFile
  )
    async throws(VaultError) -> (store: NewStore, draft: StoreDraft)
  {
    let passcodeBox: SharedSecret? = if let passcode { SharedSecret(passcode) } else { nil }
    guard passcodeBox != nil || classKeys.firstUnlock == .none else { throw .passcodeNotSet }
    let seal = try storage.sealForNewKeys()
    let rollback = storage.rollback(of: seal)
    // Fail before the recovery key is shown if the store could not be recorded.
    try rollback?.prepare()
    var stretched: StretchedPasscode?
    if let passcodeBox {
      try Passcodes.check(
        passcodeBox.bytes, shortest: shortestPasscode, in: seal.tier, allowsGuessable: allowsGuessable)
      stretched = try await scrypt.stretchNew(passcodeBox, for: owner, floor)
    }
    let new = try NewStore(at: path)
    do {
      let recovery = try RecoveryKey.generate()
      let (id, manifest) = try fill(
        new.directory, stretched, try recovery.key(info: RecoveryKey.slotInfo), owner, floor, classKeys, seal)
      if let rollback { new.cover(by: rollback, id, manifest) }
      try new.directory.sync()
      return (new, StoreDraft(id: new.id, recoveryKey: recovery.text()))
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// Refuses a passcode that a new store would not take. Call it before asking for a password.
  ///
  /// - Throws: `invalidPasscode`, `guessablePasscode`, and what keeps the storage from taking new keys.
  package static func check(
    newPasscode passcode: borrowing SecretBytes, shortest: Int, allowsGuessable: Bool, storage: RootStorage
  ) throws(VaultError) {
    try Passcodes.check(
      passcode, shortest: shortest, in: try storage.sealForNewKeys().tier, allowsGuessable: allowsGuessable)
  }

  private static func fill(
    _ directory: StoreDirectory, _ stretched: StretchedPasscode?, _ recoveryKey: borrowing SecretBytes,
    _ owner: UInt32, _ floor: Scrypt.Floor, _ classKeys: ClassKeys, _ seal: DeviceSeal
  ) throws -> (databaseID: [UInt8], Manifest) {
    let databaseID = try Random.bytes(16)
    let keys = try RootKeys(root: Random.key(), databaseID: databaseID)
    let device = try DeviceSlot.slot(wrapping: keys.root, of: databaseID, in: directory, seal)
    let database = try StoreDatabase(at: directory.database, creating: true)
    let store = Store(
      directory: directory, database: database, keys: keys, owner: owner, clock: .system, floor: floor,
      classKeys: classKeys, seal: seal)
    let locked = try stretched.map { stretched in try LockedPasscode(stretched, databaseID, in: seal) }
    let empty = try Authority().sealed(store.keys)
    try database.queue.write { db in
      try db.execute(
        sql: "INSERT INTO store (id, database_id, authority) VALUES (1, ?, ?)",
        arguments: [databaseID.data, empty.data])
    }
    try Manifest(of: Authority(), box: empty).write(to: directory.manifest, key: store.keys.manifest)
    let first: SharedSecret? = try store.commit { change in
      try change.put(device)
      try change.put(
        Slot(.recovery, wrapping: store.keys.root, under: recoveryKey, databaseID: databaseID))
      try change.putClassKey(.whenUnlocked)
      try change.putClassKey(.afterFirstUnlock)
      guard let locked else { return nil }
      let key = try Random.key()
      try change.putPasscodeKey(
        key, under: locked, recoveryPublicKey: DerivedPair.recovery.publicKey(of: recoveryKey, databaseID))
      return try change.openClassKeys(with: key)
    }
    if let first { classKeys.open(first, of: databaseID, .system) }
    try database.queue.close()
    return (databaseID, try store.lastManifest())
  }

  /// Makes a new device slot with the recovery key, for a store whose key file is missing, or whose TPM or credential
  /// no longer opens it. The store gets no lower tier unless the settings choose it (``RootStorage/seal(replacing:)``).
  ///
  /// The passcode cannot do this: the count of wrong passcodes is sealed under the root key, so without the device slot
  /// tries could not be counted.
  package static func rebuildDeviceKey(
    at path: String, recoveryKey text: consuming SecretBytes, owner: UInt32 = geteuid(),
    floor: Scrypt.Floor = .standard, storage: RootStorage = .keyFile
  ) throws(VaultError) {
    let directory = try StoreDirectory.open(at: path)
    let database = try StoreDatabase(at: directory.database)
    let databaseID = try database.identity()
    let root = try root(of: database, by: text)
    let seal = try storage.seal(replacing: try database.deviceSlot())
    let store = Store(
      directory: directory, database: database, keys: try RootKeys(root: root, databaseID: databaseID), owner: owner,
      clock: .system, floor: floor, classKeys: ClassKeys(), seal: seal, rollback: storage.rollback(of: seal))
    let device = try DeviceSlot.slot(wrapping: store.keys.root, of: databaseID, in: directory, seal)
    try store.commit(evenRestored: true) { change in try change.put(device) }
  }

  /// Refuses a text that is not the recovery key of the store at a place. Call it before asking for a password. The key
  /// is too long to guess, so the answer helps nobody.
  ///
  /// - Throws: `malformedRecoveryKey`, `wrongRecoveryKey`, and what is wrong with the store.
  package static func check(
    recoveryKey text: borrowing SecretBytes, ofStoreAt path: String
  ) throws(VaultError) {
    _ = try root(of: try StoreDatabase(at: try StoreDirectory.open(at: path).database), by: text)
  }

  /// The root key, by the recovery key.
  private static func root(
    of database: StoreDatabase, by recoveryKey: borrowing SecretBytes
  ) throws(VaultError) -> SecretBytes {
    guard let slot = try database.rawSlot(.recovery) else { throw .storeDamaged("it has no recovery slot") }
    return try slot.unwrap(
      under: RecoveryKey.slotKey(of: recoveryKey), databaseID: try database.identity(), otherwise: .wrongRecoveryKey)
  }
}

extension StoreDatabase {
  /// What opens the device slot, unchecked; nil where that cannot be read.
  func deviceSlot() throws(VaultError) -> DeviceSlot? {
    guard let slot = try rawSlot(.device) else { return nil }
    return try? DeviceSlot(parameters: slot.parameters)
  }
}
