import Executors
import Glibc
import Keys
import SecretModel
import SecureMemory
import Vault

/// One user's store in the service, and its vault while it is used and for a while afterwards.
///
/// It runs on an executor of its own: opening a store and asking for an account's name block.
actor UserStore {
  private enum Opened {
    case closed
    /// - Parameter place: the folder of the store.
    case open(Vault, place: String)
    /// The store is opened anew when this has ended.
    case closing(Task<Void, Never>)
  }

  private struct Draft {
    let connection: ObjectIdentifier
    let store: NewStore
  }

  private let executor = VaultExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let user: UInt32
  private let configuration: SystemVaults.Configuration
  private let desk: ReaderDesk
  private var opened = Opened.closed
  /// What is unlocked of the store at a place: it stays so when the vault is closed.
  private var unlocked: (place: String, keys: ClassKeys)?
  /// How many sessions use the vault.
  private var sessions = 0
  /// Counts the times that the last session ended, so that an idle time that a new session has ended closes nothing.
  private var idleNumber = 0
  /// The new store that waits to be kept; a user has one at most.
  private var draft: Draft?
  private var isCreating = false

  /// - Parameter desk: shared by all users' stores.
  init(of user: UInt32, _ configuration: SystemVaults.Configuration, _ desk: ReaderDesk) {
    self.user = user
    self.configuration = configuration
    self.desk = desk
  }

  // MARK: Opening

  func open(for caller: Caller) async throws(VaultError) -> VaultSession {
    let place = try place()
    // The vault of an account that had this user id before may still be open.
    while !isClosed(otherThan: place) {
      guard sessions == 0 else { throw .busy("programs of another account with this user id are connected") }
      await close()
    }
    let authorizeOwner = configuration.authorizeOwner
    let session = try VaultSession(
      of: try vault(at: place), for: caller,
      authorizeFirstFinger: { () async throws(VaultError) in try await authorizeOwner(caller) })
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
    Task {
      try? await Task.sleep(for: idleTime)
      if sessions == 0, idleNumber == number { await close() }
    }
  }

  /// Closes the vault. No session may be open.
  func close() async {
    let task: Task<Void, Never>
    switch opened {
    case .closed: return
    case .closing(let running): task = running
    case .open(let vault, _):
      task = Task { await vault.close() }
      opened = .closing(task)
    }
    await task.value
    // Whoever waited for the same end may have opened the store again.
    if case .closing(let ended) = opened, ended == task { opened = .closed }
  }

  /// Whether no vault is open, or the one of this place.
  private func isClosed(otherThan place: String) -> Bool {
    switch opened {
    case .closed: true
    case .closing: false
    case .open(_, let other): other == place
    }
  }

  private func vault(at place: String) throws(VaultError) -> Vault {
    if case .open(let vault, _) = opened { return vault }
    let vault: Vault
    do throws(VaultError) {
      vault = try Vault(
        at: place, desk: desk, owner: user, floor: configuration.floor, scrypt: configuration.scrypt,
        gate: configuration.gate, arming: .whenPromptStands, classKeys: classKeys(at: place),
        quota: configuration.quota)
    } catch .storeNotFound {
      if let other = StoreNames(in: configuration.folder).other(of: user, than: place) {
        throw .unsafeDirectory(
          "\(other) belongs to an account that had this user id under another name: an administrator renames it to "
            + "\(place) or removes it, and 'whorl init' makes a new store")
      }
      throw .storeNotFound(place)
    }
    opened = .open(vault, place: place)
    return vault
  }

  private func classKeys(at place: String) -> ClassKeys {
    if let unlocked, unlocked.place == place { return unlocked.keys }
    let keys = ClassKeys(firstUnlock: configuration.firstUnlock)
    unlocked = (place, keys)
    return keys
  }

  /// The folder of the store: it has the name of the account, so that a user id that is given to somebody else opens
  /// nothing.
  private func place() throws(VaultError) -> String {
    guard let name = configuration.accountName(user) else {
      throw .serviceUnavailable("user \(user) has no account on this machine")
    }
    return StoreNames(in: configuration.folder).place(of: user, named: name)
  }

  // MARK: Making

  func create(passcode: consuming SecretBytes, for caller: Caller, on connection: ObjectIdentifier)
    async throws(VaultError) -> StoreDraft
  {
    guard draft == nil, !isCreating else { throw .busy("another program of this user is making a store") }
    isCreating = true
    defer { isCreating = false }
    let place = try place()
    // Nobody types a password for a store that cannot be made.
    guard access(place, F_OK) != 0 else { throw .storeExists(place) }
    let passcode = SharedSecret(passcode)
    try await configuration.authorizeOwner(caller)
    let (new, told) = try await Vault.newStore(
      at: place, passcode: passcode.copy(), owner: user, scrypt: configuration.scrypt, floor: configuration.floor,
      classKeys: classKeys(at: place))
    draft = Draft(connection: connection, store: new)
    return told
  }

  func keep(_ id: StoreDraft.ID, of connection: ObjectIdentifier) throws(VaultError) {
    guard let draft, draft.connection == connection, draft.store.id == id else {
      throw .invalidRequest("this connection has no such new store")
    }
    self.draft = nil
    try draft.store.keep()
  }

  /// Removes the new store of a connection that has ended.
  func discardDraft(of connection: ObjectIdentifier) {
    if draft?.connection == connection { draft = nil }
  }

  func rebuildDeviceKey(recoveryKey: consuming SecretBytes, for caller: Caller) async throws(VaultError) {
    let recoveryKey = SharedSecret(recoveryKey)
    try await configuration.authorizeOwner(caller)
    try Vault.rebuildDeviceKey(
      at: try place(), recoveryKey: recoveryKey.copy(), owner: user, floor: configuration.floor)
  }
}
