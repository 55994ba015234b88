package import Keys
package import SecretModel
import SecureMemory
import Synchronization
import Vault

/// The stores of a machine's users in one process: what the system service serves. Each user has one vault, on an
/// executor of its own, which all connections of that user share.
package final class SystemVaults: Sendable {
  /// What the stores of the service have in common.
  package struct Configuration: Sendable {
    /// The folder of the stores, which belongs to this process's user alone.
    package var folder: String
    /// How long a store that nobody uses stays open.
    package var idleTime = Duration.seconds(60)
    /// The readers, which all stores share.
    package var reader: ServiceReader
    /// The name of a user's account; nil where there is none. May block.
    package var accountName: @Sendable (UInt32) -> String?
    /// Whether a program may make a store for its user, give one a new key file, or enrol the first finger: what takes a
    /// place that the user has not taken yet. Throws what forbids it. May ask the user, and wait for the answer.
    package var authorizeOwner: @Sendable (Caller) async throws(VaultError) -> Void
    /// What the machine's login sessions allow.
    package var gate: any SessionGate = NoSessionGate()
    /// What opens a store after the service has started.
    package var firstUnlock = FirstUnlock.passcode
    /// The most bytes that one user may store.
    package var quota = 256 << 20
    /// Where all stores stretch their passcodes.
    let scrypt = ScryptQueue()
    /// The least that scrypt must cost; tests alone ask for less.
    package var floor = Scrypt.Floor.standard

    package init(
      folder: String, reader: ServiceReader, accountName: @escaping @Sendable (UInt32) -> String?,
      authorizeOwner: @escaping @Sendable (Caller) async throws(VaultError) -> Void
    ) {
      self.folder = folder
      self.reader = reader
      self.accountName = accountName
      self.authorizeOwner = authorizeOwner
    }
  }

  private let configuration: Configuration
  private let desk: ReaderDesk
  private let stores = Mutex<[UInt32: UserStore]>([:])

  package init(_ configuration: Configuration) {
    self.configuration = configuration
    desk = ReaderDesk(for: configuration.reader)
  }

  /// What is served to one connection of this caller.
  package func connection(for caller: Caller) -> any VaultConnection {
    let store = stores.withLock { stores in
      if let store = stores[caller.user] { return store }
      let store = UserStore(of: caller.user, configuration, desk)
      stores[caller.user] = store
      return store
    }
    return SystemVaultConnection(of: caller, to: store)
  }

  /// Closes every store. Connections must have ended before.
  package func close() async {
    for store in stores.withLock({ Array($0.values) }) { await store.close() }
    await desk.shutdown()
  }
}

/// One client's use of the service: the caller's own store alone.
private final class SystemVaultConnection: VaultConnection {
  private enum State {
    case unused, opening
    case open(VaultSession)
    case closed
  }

  private let caller: Caller
  private let store: UserStore
  private let state = Mutex(State.unused)

  init(of caller: Caller, to store: UserStore) {
    self.caller = caller
    self.store = store
  }

  func open(_ place: StorePlace) async throws(VaultError) -> any VaultService {
    try requireOwn(place)
    try state.withLock { state throws(VaultError) in
      switch state {
      case .unused: state = .opening
      case .opening, .open: throw .invalidRequest("this connection has an open store")
      case .closed: throw .connectionClosed
      }
    }
    let session: VaultSession
    do throws(VaultError) {
      session = try await store.open(for: caller)
    } catch {
      state.withLock { state in
        if case .opening = state { state = .unused }
      }
      throw error
    }
    let isStanding = state.withLock { state in
      guard case .opening = state else { return false }
      state = .open(session)
      return true
    }
    guard isStanding else {
      await store.end(session)
      throw .connectionClosed
    }
    return session
  }

  func create(_ place: StorePlace, passcode: consuming SecretBytes?) async throws(VaultError) -> StoreDraft {
    try requireOwn(place)
    try requireStanding()
    guard let passcode else { throw .invalidPasscode("the service keeps no store without a passcode") }
    let draft = try await store.create(passcode: passcode, for: caller, on: ObjectIdentifier(self))
    do throws(VaultError) {
      try requireStanding()
    } catch {
      await store.discardDraft(of: ObjectIdentifier(self))
      throw error
    }
    return draft
  }

  func keep(_ draft: StoreDraft.ID) async throws(VaultError) {
    try await store.keep(draft, of: ObjectIdentifier(self))
  }

  func rebuildDeviceKey(at place: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError) {
    try requireOwn(place)
    try requireStanding()
    try await store.rebuildDeviceKey(recoveryKey: recoveryKey, for: caller)
  }

  func close() async {
    let session: VaultSession? = state.withLock { state in
      defer { state = .closed }
      if case .open(let session) = state { return session }
      return nil
    }
    if let session { await store.end(session) }
    await store.discardDraft(of: ObjectIdentifier(self))
  }

  /// The service opens no path, starts no program and asks no bus that a client names.
  private func requireOwn(_ place: StorePlace) throws(VaultError) {
    guard case .own = place else {
      throw .invalidRequest("the service opens its own stores alone: a store in a folder is opened by a private whorld")
    }
  }

  private func requireStanding() throws(VaultError) {
    try state.withLock { state throws(VaultError) in
      if case .closed = state { throw .connectionClosed }
    }
  }
}

extension VaultError {
  fileprivate static let connectionClosed = serviceUnavailable("the connection was closed")
}
