// VaultHost: runs vaults for the programs that connect. Begin with `SystemVaults`, the stores of a machine's users, each of
// which is a `UserStore`; in the system service `VaultBroker` starts a process for each user. `LocalVaultConnection` serves
// one program its own store, `Logins` the PAM module, `LentReader` a test of a reader. `SystemPolicy` asks logind and polkit
// what a program may do; `Log` keeps the log of the service's stores.

import Presence
import Primitives
package import SecretModel
import Synchronization
import Vault
import VaultStore

/// The stores of users of a machine in this process. In the system service each user has a process (``VaultBroker``).
/// Each user has one vault on its own executor, shared by all of the user's connections.
package final class SystemVaults: Sendable {
  private let configuration: SystemVaultsConfiguration
  private let desk: ReaderDesk
  private let stores = Mutex<[UInt32: UserStore]>([:])

  package init(_ configuration: SystemVaultsConfiguration) {
    self.configuration = configuration
    desk = ReaderDesk(for: configuration.reader, sharedIn: configuration.locks)
    if let sessions = configuration.sessions {
      Task(executorPreference: BackgroundThread.shared) {
        await sessions.followSleep { [weak self] in
          await self?.suspend()
        } after: { [weak self] in
          await self?.resume()
        }
      }
    }
  }

  /// The object that serves one connection of this caller.
  package func connection(for caller: Caller) -> any VaultConnection {
    let (desk, sessions, authorize) = (desk, configuration.sessions, configuration.authorizeTest)
    return SystemVaultConnection(of: caller, to: store(of: caller.user), named: configuration.programPaths) {
      LentReader(of: desk, to: $0, under: sessions ?? NoSessionGate(), authorize: authorize)
    }
  }

  func store(of user: UInt32) -> UserStore {
    stores.withLock { stores in
      if let store = stores[user] { return store }
      let store = UserStore(of: user, configuration, desk)
      stores[user] = store
      return store
    }
  }

  /// Locks items that need an unlocked session, and closes the readers, before the machine sleeps.
  private func suspend() async {
    for store in stores.withLock({ Array($0.values) }) { store.closeSessionClasses() }
    await desk.suspend()
  }

  private func resume() async {
    for store in stores.withLock({ Array($0.values) }) { store.dropExpiredKey() }
    await desk.resume()
  }

  /// Whether no store is open or being made, and no key of one is kept, so that nothing is lost when the process ends.
  package func areUnused() async -> Bool {
    for store in stores.withLock({ Array($0.values) }) where await !store.isUnused { return false }
    return true
  }

  /// Closes every store. All connections must have ended before.
  package func close() async {
    for store in stores.withLock({ Array($0.values) }) { await store.close() }
    await desk.shutdown()
  }
}

/// One client's connection to the service, which can only use the caller's own store.
private final class SystemVaultConnection: VaultConnection {
  private enum State {
    case unused, opening
    case open(VaultSession)
    case closed
  }

  private let caller: Caller
  /// Finds the path of the caller's program before its first call arrives.
  private let naming: Task<Caller, Never>?
  private let store: UserStore
  private let state = Mutex(State.unused)
  private let readerToLend: @Sendable (Caller) -> LentReader
  private let loan = Mutex<ReaderLending?>(nil)

  init(
    of caller: Caller, to store: UserStore, named paths: ProgramPaths?,
    readerToLend: @escaping @Sendable (Caller) -> LentReader
  ) {
    self.caller = caller
    naming = paths.map { paths in
      Task(executorPreference: BackgroundThread.shared) { await paths.named(caller) }
    }
    self.store = store
    self.readerToLend = readerToLend
  }

  private func named() async -> Caller { await naming?.value ?? caller }

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
    let caller = await named()
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

  func create(
    _ place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft {
    try requireOwn(place)
    try requireStanding()
    guard let passcode else { throw .invalidPasscode("the service keeps no store without a passcode") }
    let caller = await named()
    let draft = try await store.create(
      passcode: passcode, allowsGuessable: allowsGuessable, for: caller, on: ObjectIdentifier(self))
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
    let caller = await named()
    try await store.rebuildDeviceKey(recoveryKey: recoveryKey, for: caller)
  }

  func makeStore(
    at place: StorePlace, ofBackup file: Int32, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) -> [ItemName] {
    try requireOwn(place)
    try requireStanding()
    let caller = await named()
    return try await store.make(ofBackup: file, recoveryKey: recoveryKey, for: caller)
  }

  /// Refused: for a sealed copy the service has no store in which to count failed tries.
  func openCopy(_: SealedCopy, with _: consuming SealedCopy.Opening) async throws(VaultError) -> SecretBytes {
    throw .invalidRequest("the service opens no sealed copies: a private whorld does")
  }

  func lendReader() async throws(VaultError) -> ReaderSocket {
    try requireStanding()
    let caller = await named()
    let (served, given) = try ReaderLending.sockets()
    let socket = ReaderSocket(taking: given)
    let lending = try ReaderLending(of: readerToLend(caller), on: served)
    let isFirst = loan.withLock { loan in
      guard loan == nil else { return false }
      loan = lending
      return true
    }
    do throws(VaultError) {
      guard isFirst else { throw .invalidRequest("a reader was lent to this connection already") }
      // The connection may have been closed during the call; without this the loan would never end.
      try requireStanding()
    } catch {
      await lending.end()
      throw error
    }
    return socket
  }

  /// Refused: the derivation is slow and does not need the service.
  func walletKey(from _: consuming SecretBytes, salt _: [UInt8]) async throws(VaultError) -> SecretBytes {
    throw .invalidRequest("the service derives no keys of wallets: a private whorld does")
  }

  /// Refused, like the next four calls: they do not need the service, and some take a second and much memory.
  func encryptFile(from _: Int32, to _: Int32, for _: EncryptedFile.Recipient) async throws(VaultError) {
    throw .noFiles
  }

  func fileKey(of _: Int32, with _: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes { throw .noFiles }

  func decryptFile(_: Int32, with _: consuming SecretBytes, to _: Int32) async throws(VaultError) { throw .noFiles }

  func wrapFileKey(_: consuming SecretBytes, to _: AgePublicKey) async throws(VaultError) -> [UInt8] { throw .noFiles }

  func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair { throw .noFiles }

  func close() async {
    let session: VaultSession? = state.withLock { state in
      defer { state = .closed }
      if case .open(let session) = state { return session }
      return nil
    }
    await loan.withLock { $0 }?.end()
    if let session { await store.end(session) }
    await store.discardDraft(of: ObjectIdentifier(self))
  }

  /// Refuses a place given by the client: the service opens no path, starts no program and calls no bus for a client.
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

extension VaultError {
  fileprivate static let noFiles = invalidRequest("the service encrypts and decrypts no files: a private whorld does")
}
