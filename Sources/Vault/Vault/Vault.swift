import Executors
package import Fingerprint
import GRDB
import Glibc
package import Keys
package import Presence
import SecureMemory
import TPM
import VaultItems
package import VaultStore

/// Stores items and decides by fingers and passcodes who may read them. Clients use it only through `VaultService`.
package actor Vault {
  /// The longest secret, in bytes.
  package static let secretLimit = NewItem.secretLimit

  private let executor = VaultExecutor()
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The owner of the items and fingers.
  package nonisolated let owner: UInt32
  let store: Store
  private let storage: RootStorage
  /// Gives the reader to one request at a time.
  package nonisolated let desk: ReaderDesk
  let presence: OwnerPresence
  let backups: Backups
  let sessionLock: SessionLock
  let catalogue: ItemCatalogue
  /// The client for calls of the process that holds the vault.
  package nonisolated let itself: Client
  /// The task that empties the write-ahead log after deletions.
  var forgetting: Task<Void, Never>?

  /// Opens the store of `owner`. The reader process starts when a finger is first needed. No finger is asked for if
  /// `gate` refuses the caller's login session. Vaults in one process share one `scrypt`, and may share a `desk`. The
  /// caller may keep `classKeys` longer than the vault, so that unlocked classes stay open. `quota` is the largest size
  /// of the store in bytes; nil: no limit. `readerUser` returns the user whose fingers fprintd is asked for; nil: no
  /// reader is opened. `storage` opens the device slot. `clock`, `touchClock` and `floor` are for tests.
  package init(
    at path: String, desk: ReaderDesk, owner: UInt32 = geteuid(), clock: BootClock = .system,
    touchClock: @escaping @Sendable () -> UInt64 = ScanClock.now, floor: Scrypt.Floor = .standard,
    scrypt: ScryptQueue = ScryptQueue(), gate: any SessionGate = NoSessionGate(), arming: ArmingPolicy = .atOnce,
    classKeys: ClassKeys = ClassKeys(), quota: Int? = nil, passcodeRule: PasscodeRule = PasscodeRule(),
    readerUser: ReaderUser? = .own, storage: RootStorage = .keyFile
  ) throws(VaultError) {
    let directory = try StoreDirectory.open(at: path)
    let database = try StoreDatabase(at: directory.database, quota: quota)
    let databaseID = try database.identity()
    guard let slot = try database.rawSlot(.device) else { throw .deviceKeyMissing }
    let device = try DeviceSlot(parameters: slot.parameters)
    let seal = try storage.seal(of: device)
    let root = try slot.unwrap(
      under: device.key(in: directory, seal), databaseID: databaseID, otherwise: .deviceKeyMissing)
    let store = Store(
      directory: directory, database: database, keys: try RootKeys(root: root, databaseID: databaseID), owner: owner,
      clock: clock, floor: floor, classKeys: classKeys, seal: seal, rollback: storage.rollback(of: seal))
    // After a loss of power during a move to another tier, the key file may still exist.
    if !seal.isKeyFile { DeviceKey.remove(in: directory) }
    self.store = store
    self.storage = storage
    self.owner = owner
    self.desk = desk
    itself = Client(Caller(user: owner))
    sessionLock = SessionLock(gate: gate, store: store)
    presence = OwnerPresence(
      of: store, desk: desk, gate: gate, arming: arming, readerUser: readerUser, scrypt: scrypt,
      passcodeRule: passcodeRule, touchClock: touchClock)
    backups = Backups(passcodes: presence.passcodes)
    catalogue = ItemCatalogue(store: store, fingers: presence.fingers, passcodes: presence.passcodes, scrypt: scrypt)
  }

  /// The file with the items of the store in this folder.
  package static func database(in folder: String) -> String { StoreDirectory(path: folder).database }

  /// Loads the cryptographic algorithms, for a store that will be opened soon.
  package static func prepare() { Algorithms.prepare() }

  /// Ends every context and closes the database, which empties its log. No call works afterwards.
  package func close() async {
    endContexts()
    // End the pause in which the task collects further changes.
    forgetting?.cancel()
    await forgetting?.value
    store.database.close()
  }

  /// Ends every context with `systemCancelled`.
  package func endContexts() { presence.contexts.closeAll() }

  package func status() async throws(VaultError) -> VaultStatus {
    await sessionLock.follow()
    return try StoreReport(presence: presence).status()
  }

  /// The classes whose items can be opened now.
  package func openClasses() async throws(VaultError) -> [Accessibility] {
    await sessionLock.follow()
    return try store.read { snapshot in try snapshot.openClasses() }
  }

  /// Waits until the class `after-first-unlock` is opened or closed, and returns whether it is open.
  package func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool {
    try await store.unlockChange(from: isOpen)
  }

  /// Reseals the keys of the store in the machine's TPM, or under the service's credential, as the storage determines.
  /// Moves a store of another tier there.
  ///
  /// - Parameter registers: the PCRs that the keys are sealed to; none by default, since firmware updates change them.
  /// - Throws: `invalidRequest` for registers other than 0 to 15, and what ``RootStorage/newSeal(to:)`` throws.
  package func reseal(to registers: [UInt8] = [], _ request: Request) async throws(VaultError) {
    guard let registers = PlatformRegisters(registers) else {
      throw .invalidRequest("only the registers 0 to 15 hold their values until a restart")
    }
    let seal = try storage.newSeal(to: registers)
    let rollback = storage.rollback(of: seal)
    let turn = try await presence.contexts.turn(of: request)
    try await presence.passcodeChanges.reseal(in: seal, rollback, turn.context)
  }

  /// The problems of the store as a whole; empty when there are none.
  package func integrityProblems() throws(VaultError) -> [VaultError] {
    try StoreReport(presence: presence).problems()
  }
}
