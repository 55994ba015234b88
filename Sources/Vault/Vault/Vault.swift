// Vault: the vault of one owner, made of `VaultStore`, `Presence` and `VaultItems`. Begin with `Vault`, which opens and makes
// stores, and `VaultSession`, which answers the calls of one client.

import GRDB
import Glibc
package import Keys
package import Presence
package import Primitives
@_exported public import SecretModel
import VaultItems
package import VaultStore
import VaultSync

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
  let nonces = JoinNonces()
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

/// The calls about items, which ``VaultService`` describes. Each asks the person, in the context of its request, for what
/// the items require.
extension Vault {
  package func items(_ search: ItemSearch, _ request: Request) throws(VaultError) -> ItemPage {
    try catalogue.page(search, try presence.contexts.context(of: request))
  }

  package func secrets(_ selection: ItemSelection, _ request: Request) async throws(VaultError) -> [ReleasedItem] {
    let context = try presence.contexts.context(of: request)
    await sessionLock.follow()
    switch try catalogue.find(selection, context) {
    case .released(let items): return items
    case .protected(let wanted):
      let turn = try await presence.contexts.turn(of: request)
      let evidence = try await presence.authorizer.evidence(
        for: wanted.map(\.need), reason: request.asking.reason, turn.context)
      return try await catalogue.release(wanted, evidence)
    }
  }

  package func secrets(of ids: [ItemID], upTo size: Int, _ request: Request) async throws(VaultError)
    -> [ReleasedItem]
  {
    try await secrets(.ids(try catalogue.first(of: ids, upTo: size)), request)
  }

  package func add(_ items: [ItemToAdd]) async throws(VaultError) -> [Result<ItemID, VaultError>] {
    await sessionLock.follow()
    return try await catalogue.add(items)
  }

  package func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ request: Request)
    async throws(VaultError) -> Item
  {
    guard secret.count <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let secret = SharedSecret(secret)
    await sessionLock.follow()
    return try await catalogue.add(item, secret: secret, replacing: replacing) { name throws(VaultError) in
      if let password = try self.presence.contexts.context(of: request)?.applicationPassword { return password }
      let turn = try await self.presence.contexts.turn(of: request)
      return try await self.presence.authorizer.newPassword(for: name, turn.context)
    }
  }

  package func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ request: Request
  ) async throws(VaultError) -> Int {
    guard (secret?.count ?? 0) <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let fresh: SharedSecret? = if let secret { SharedSecret(secret) } else { nil }
    let context = try presence.contexts.context(of: request)
    await sessionLock.follow()
    let wanted = try catalogue.toChange(selection, context)
    guard !wanted.isEmpty else { return 0 }
    let protection = try await catalogue.protection(after: change, context)
    if wanted.allSatisfy(\.isOpen) {
      try await catalogue.rewrite(wanted, Evidence(), change, secret: fresh, protection)
    } else {
      let turn = try await presence.contexts.turn(of: request)
      let evidence = try await presence.authorizer.evidence(
        for: wanted.map(\.need), reason: request.asking.reason, turn.context)
      try await catalogue.rewrite(wanted, evidence, change, secret: fresh, protection)
    }
    store.database.forgetOldPages()
    return wanted.count
  }

  package func delete(_ selection: ItemSelection) throws(VaultError) -> Int {
    let count = try catalogue.delete(selection)
    if count > 0 { forgetSoon() }
    return count
  }

  package func useKey(_ id: ItemID, _ use: KeyUse, _ request: Request) async throws(VaultError) -> SecretBytes {
    await sessionLock.follow()
    let (wanted, family) = try catalogue.key(id, for: use)
    guard !wanted.allSatisfy(\.isOpen) else { return try await catalogue.use(wanted, Evidence(), family, use) }
    let turn = try await presence.contexts.turn(of: request)
    let evidence = try await presence.authorizer.evidence(
      for: wanted.map(\.need), reason: request.asking.reason, turn.context)
    return try await catalogue.use(wanted, evidence, family, use)
  }

  package func passkeyReadiness() throws(VaultError) -> PasskeyReadiness { try catalogue.passkeyReadiness() }

  package func makePasskey(_ passkey: NewPasskey, _ request: Request) async throws(VaultError) -> (
    Item, SignedCeremony
  ) { try await ceremonies.make(passkey, request) }

  package func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ request: Request)
    async throws(VaultError) -> [SignedCeremony]
  { try await ceremonies.assert(ids, assertion, request) }

  private var ceremonies: AskedCeremonies { AskedCeremonies(presence, catalogue, sessionLock) }

  func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ request: Request
  ) async throws(VaultError) -> SealedCopy {
    try await CopySealer(presence: presence).seal(secret, under: keys, replacing: old, request)
  }

  package func evaluate(_ proof: Proof, _ request: Request) async throws(VaultError) -> [UInt8]? {
    var digest: [UInt8]?
    do {
      let turn = try await presence.contexts.turn(of: request)
      digest = try await presence.authorizer.evaluate(proof, reason: request.asking.reason, turn.context)
    }
    // The evaluation has succeeded, even if the reader's state cannot be read now.
    if digest == nil { digest = try? await presence.fingers.biometry(for: itself.caller).state }
    return digest
  }

  /// Empties the write-ahead log a moment later, once for many changes, without making the caller wait.
  private func forgetSoon() {
    guard forgetting == nil else { return }
    forgetting = Task(executorPreference: BackgroundThread.shared) {
      try? await Pause.wait(for: .seconds(1))
      await self.forget()
    }
  }

  private func forget() {
    forgetting = nil
    store.database.forgetOldPages()
  }
}

/// Authentication contexts.
extension Vault {
  /// Opens an authentication context. One listener receives its events, in order.
  package func openContext(_ options: ContextOptions, of client: Client) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    presence.contexts.open(options, of: client)
  }

  /// Passes a response of the person to a context.
  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse, of client: Client) async {
    await presence.respond(handle, response, of: client)
  }

  /// Sets the application password, which is then not asked for; nil removes it.
  package func setApplicationPassword(
    _ password: consuming SecretBytes?, of handle: ContextHandle, _ client: Client
  ) {
    let context = presence.contexts.context(handle, of: client)
    if let password {
      context?.applicationPassword = SharedSecret(password)
    } else {
      context?.applicationPassword = nil
    }
  }

  /// Ends the context. A running call throws `reason`, and every later one `contextInvalidated`. Its evidence is
  /// forgotten, and the event stream finishes.
  package func closeContext(_ handle: ContextHandle, _ reason: VaultError, of client: Client) {
    presence.contexts.close(handle, reason, of: client)
  }

  /// Ends every context of a client whose session has ended.
  func closeContexts(of client: Client) { presence.contexts.close(of: client) }
}
