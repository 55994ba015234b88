import Glibc
import Keys
import Presence
import Primitives
import SecretModel
import Synchronization
import Vault
import VaultItems
import VaultStore

/// One user's store in the service, and its vault while it is in use and for a while afterwards.
///
/// It runs on its own executor, since opening a store and looking up an account's name block.
actor UserStore {
  private enum Opened {
    case closed
    /// - Parameters:
    ///   - place: the folder of the store.
    ///   - file: the store's database, which identifies the store until it is removed.
    case open(Vault, place: String, file: FileIdentity?)
    /// The vault is closing. The store can be opened again when the task has ended.
    case closing(Task<Void, Never>)
  }

  private struct Draft {
    let connection: ObjectIdentifier
    let caller: Caller
    let store: NewStore
    let place: String
  }

  private let executor = VaultExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let user: UInt32
  private let configuration: SystemVaultsConfiguration
  private let desk: ReaderDesk
  private var opened = Opened.closed
  /// The unlocked keys of the store at a place, kept when the vault is closed. Outside of the actor, which may be
  /// blocked, for example by a client's file that never answers.
  private nonisolated let unlocked = Mutex<(place: String, keys: ClassKeys)?>(nil)
  /// Locks items when the user's login sessions are locked.
  private var following: Task<Void, Never>?
  /// The log of the store at a place.
  private var log: (place: String, log: StoreLog)?
  /// How many sessions use the vault.
  private var sessions = 0
  /// Counts the idle periods, so that the timer of an earlier one closes nothing.
  private var idleNumber = 0
  /// The new store that the client has not kept yet. A user has one at most.
  private var draft: Draft?
  private var isCreating = false

  /// - Parameter desk: shared by all users' stores.
  init(of user: UInt32, _ configuration: SystemVaultsConfiguration, _ desk: ReaderDesk) {
    self.user = user
    self.configuration = configuration
    self.desk = desk
  }

  deinit { following?.cancel() }

  // MARK: Opening

  func open(for caller: Caller) async throws(VaultError) -> VaultSession {
    let place = try place()
    await closeRemoved()
    // The vault of an earlier account with this user id may still be open.
    while !isClosed(otherThan: place) {
      guard sessions == 0 else { throw .busy("programs of another account with this user id are connected") }
      await close()
    }
    let configuration = configuration
    let rules = FingerRules(
      change: { () async throws(VaultError) in try await configuration.authorizeFingers(caller) },
      enrolment: { () async throws(VaultError) in try await configuration.authorizeEnrolment(caller) },
      owner: { change throws(VaultError) in try await configuration.authorizeOwner(caller, change) })
    let session = try VaultSession(of: try vault(at: place), for: caller, rules: rules, log: log(at: place))
    sessions += 1
    return session
  }

  /// Ends a session of ``open(for:)``, once.
  func end(_ session: VaultSession) async {
    await session.close()
    sessions -= 1
    guard sessions == 0 else { return }
    idleNumber += 1
    let (number, idleTime) = (idleNumber, configuration.idleTime)
    Task(executorPreference: BackgroundThread.shared) {
      try? await Pause.wait(for: idleTime)
      await self.closeIdle(number)
    }
  }

  private func closeIdle(_ number: Int) async {
    if sessions == 0, idleNumber == number { await close() }
  }

  /// Whether the store is closed, and no key of it is kept for the next time.
  var isUnused: Bool {
    guard case .closed = opened, sessions == 0, draft == nil, !isCreating else { return false }
    return unlocked.withLock { $0?.keys.expire(configuration.clock) } == nil
  }

  /// Closes the vault of a store that an administrator has removed, even if programs have it open. Otherwise it would
  /// continue to write to the removed files, and a new store could not be opened.
  private func closeRemoved() async {
    guard case .open(_, let place, let file) = opened, FileIdentity(of: Vault.database(in: place)) != file else {
      return
    }
    unlocked.withLock { $0 = nil }
    log = nil
    await close()
  }

  /// Closes the vault. Later calls of its sessions fail.
  func close() async {
    let task: Task<Void, Never>
    switch opened {
    case .closed: return
    case .closing(let running): task = running
    case .open(let vault, _, _):
      task = Task(executorPreference: BackgroundThread.shared) { await vault.close() }
      opened = .closing(task)
    }
    await task.value
    // Another call may have waited for the same task and opened the store again.
    if case .closing(let ended) = opened, ended == task { opened = .closed }
  }

  /// Whether no vault is open, or only the one at this place.
  private func isClosed(otherThan place: String) -> Bool {
    switch opened {
    case .closed: true
    case .closing: false
    case .open(_, let other, _): other == place
    }
  }

  private func vault(at place: String) throws(VaultError) -> Vault {
    if case .open(let vault, _, _) = opened { return vault }
    let vault: Vault
    do throws(VaultError) {
      vault = try Vault(
        at: place, desk: desk, owner: user, clock: configuration.clock, floor: configuration.floor,
        scrypt: configuration.scrypt,
        gate: configuration.sessions ?? NoSessionGate(), arming: .whenPromptStands, classKeys: classKeys(at: place),
        quota: configuration.quota,
        passcodeRule: PasscodeRule(shortest: configuration.shortestPasscode, isRequired: true),
        readerUser: readerUser(), storage: configuration.storage)
    } catch .storeNotFound {
      throw missing(place)
    }
    opened = .open(vault, place: place, file: FileIdentity(of: Vault.database(in: place)))
    return vault
  }

  /// Throws `storeNotFound` where the user has no store. Opens nothing.
  func requireStore() throws(VaultError) {
    let place = try place()
    guard access(Vault.database(in: place), F_OK) != 0 else { return }
    throw missing(place)
  }

  private func missing(_ place: String) -> VaultError {
    guard let other = configuration.otherStore(user, place) else {
      return .storeNotFound(place)
    }
    return .unsafeDirectory(
      "\(other) belongs to an account that had this user id under another name: an administrator renames it to "
        + "\(place) or removes it, and 'whorl init' makes a new store")
  }

  /// The user whose fingers fprintd uses. Without it, all users would share the fingers of the unit's own user.
  private func readerUser() -> ReaderUser? {
    configuration.accountName(user).flatMap { ReaderUser.Name($0) }.map { .named($0) }
  }

  private func classKeys(at place: String) -> ClassKeys {
    if let unlocked = unlocked.withLock({ $0 }), unlocked.place == place { return unlocked.keys }
    let keys = ClassKeys(firstUnlock: configuration.firstUnlock)
    unlocked.withLock { $0 = (place, keys) }
    follow()
    return keys
  }

  /// Locks items as soon as the user's sessions are locked. An earlier request then releases nothing.
  private func follow() {
    guard following == nil, let states = configuration.sessions?.states(of: user) else { return }
    following = Task(executorPreference: BackgroundThread.shared) { [weak self] in
      for await state in states where state != .unlocked { self?.closeSessionClasses() }
    }
  }

  /// Locks items that need an unlocked session. Called when sessions lock and before sleep. Does not wait, so that this
  /// store cannot delay other users' stores and the reader.
  nonisolated func closeSessionClasses() { unlocked.withLock { $0?.keys.sessionsLocked() } }

  /// Drops a key that has expired while the machine slept: timers stand still meanwhile.
  nonisolated func dropExpiredKey() { unlocked.withLock { _ = $0?.keys.expire(configuration.clock) } }

  private func log(at place: String) -> StoreLog {
    if let log, log.place == place { return log.log }
    let new = StoreLog(of: user, in: place, on: configuration.logThread, journal: configuration.journal)
    log = (place, new)
    return new
  }

  /// Logs a request that concerns the store as a whole.
  private func note(_ request: AuditEntry.Request, by caller: Caller, at place: String, _ error: VaultError? = nil) {
    log(at: place).record(
      AuditEntry(
        time: Int64(time(nil)), program: caller.label, process: caller.process.map { Int($0.id) }, request: request,
        outcome: error.map { .failed($0.name) } ?? .done))
  }

  /// The folder of the store. Its name includes the account, so that another account with the same user id cannot open
  /// it.
  private func place() throws(VaultError) -> String {
    guard let name = configuration.accountName(user) else {
      throw .serviceUnavailable("user \(user) has no account on this machine")
    }
    return StoreNames(in: configuration.folder).place(of: user, named: name)
  }

  // MARK: Making

  func create(
    passcode: consuming SecretBytes, allowsGuessable: Bool, for caller: Caller, on connection: ObjectIdentifier
  ) async throws(VaultError) -> StoreDraft {
    guard draft == nil, !isCreating else { throw .busy("another program of this user is making a store") }
    isCreating = true
    defer { isCreating = false }
    let place = try place()
    await closeRemoved()
    // Do not ask for a password for a store that cannot be created.
    try NewStore.requireFree(place)
    let passcode = SharedSecret(passcode)
    do throws(VaultError) {
      try StoreCreation.check(
        newPasscode: passcode.bytes, shortest: configuration.shortestPasscode, allowsGuessable: allowsGuessable,
        storage: configuration.storage)
      try await configuration.authorizeOwner(caller, .newStore)
      let (new, told) = try await StoreCreation.newStore(
        at: place, passcode: passcode.copy(), owner: user, scrypt: configuration.scrypt, floor: configuration.floor,
        shortestPasscode: configuration.shortestPasscode, allowsGuessable: allowsGuessable,
        classKeys: classKeys(at: place), storage: configuration.storage)
      draft = Draft(connection: connection, caller: caller, store: new, place: place)
      return told
    } catch {
      note(.makeStore, by: caller, at: place, error)
      throw error
    }
  }

  func keep(_ id: StoreDraft.ID, of connection: ObjectIdentifier) throws(VaultError) {
    guard let draft, draft.connection == connection, draft.store.id == id else {
      throw .invalidRequest("this connection has no such new store")
    }
    self.draft = nil
    do throws(VaultError) {
      try draft.store.keep()
    } catch {
      note(.makeStore, by: draft.caller, at: draft.place, error)
      throw error
    }
    note(.makeStore, by: draft.caller, at: draft.place)
  }

  /// Removes the new store of a connection that has ended.
  func discardDraft(of connection: ObjectIdentifier) {
    if draft?.connection == connection { draft = nil }
  }

  /// Makes the user's store from a backup, and returns the names of the login's entries that were left out.
  func make(
    ofBackup file: Int32, recoveryKey: consuming SecretBytes, for caller: Caller
  ) async throws(VaultError) -> [ItemName] {
    let recoveryKey = SharedSecret(recoveryKey)
    let place = try place()
    // Do not ask for a password for a store that cannot be created.
    try NewStore.requireFree(place)
    let leftOut: [ItemName]
    do throws(VaultError) {
      try StoreCreation.check(
        backup: file, recoveryKey: recoveryKey.bytes, owner: user, quota: configuration.quota)
      try await configuration.authorizeOwner(caller, .storeOfBackup)
      let made = try StoreCreation.newStore(
        at: place, from: file, recoveryKey: recoveryKey.copy(), owner: user, floor: configuration.floor,
        quota: configuration.quota, storage: configuration.storage)
      try made.store.keep()
      leftOut = made.leftOut
    } catch .malformedRecoveryKey {
      // A check of the backup before the key is asked for, or a typing error.
      throw .malformedRecoveryKey
    } catch {
      note(.restore, by: caller, at: place, error)
      throw error
    }
    note(.restore, by: caller, at: place)
    return leftOut
  }

  func rebuildDeviceKey(recoveryKey: consuming SecretBytes, for caller: Caller) async throws(VaultError) {
    let recoveryKey = SharedSecret(recoveryKey)
    let place = try place()
    do throws(VaultError) {
      try StoreCreation.check(recoveryKey: recoveryKey.bytes, ofStoreAt: place)
      try await configuration.authorizeOwner(caller, .newDeviceKey)
      try StoreCreation.rebuildDeviceKey(
        at: place, recoveryKey: recoveryKey.copy(), owner: user, floor: configuration.floor,
        storage: configuration.storage)
    } catch {
      note(.rebuildDeviceKey, by: caller, at: place, error)
      throw error
    }
    note(.rebuildDeviceKey, by: caller, at: place)
  }
}

/// The identity of the file at a path. While a file is open somewhere, no other file gets its inode number.
private struct FileIdentity: Equatable {
  private let device: UInt64
  private let number: UInt64

  /// Nil if there is none.
  init?(of path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
