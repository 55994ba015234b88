import Fingerprint
import Glibc
import Processes
import ReaderClient
package import SecretModel
package import SecureMemory
import Synchronization
import Vault

/// Opens and makes stores in this process, with `whorl-reader` as its child: what `whorld` serves, and what tests use in
/// place of a connection to it.
package final class LocalVaultConnection: VaultConnection {
  private struct State {
    var isClosed = false
    var open: OpenStore?
    var drafts: [StoreDraft.ID: NewStore] = [:]

    func requireRunning() throws(VaultError) {
      guard !isClosed else { throw .serviceUnavailable("the connection was closed") }
    }
  }

  private struct OpenStore {
    let vault: Vault
    let desk: ReaderDesk
    let session: VaultSession
  }

  private let caller: Caller
  private let state = Mutex(State())

  /// - Parameter caller: who is served; nil: the program itself.
  package init(for caller: Caller? = nil) { self.caller = caller ?? Caller(user: geteuid()) }

  /// Opens a store. Nothing starts a reader process before a reader is asked something.
  ///
  /// - Throws: `invalidRequest` where the connection has an open store, `storeNotFound`, and what is wrong with the store.
  package func open(_ place: StorePlace) async throws(VaultError) -> any VaultService {
    try state.withLock { state throws(VaultError) in
      try state.requireRunning()
      guard state.open == nil else { throw .invalidRequest("this connection has an open store") }
      let folder = try place.folder
      let desk = ReaderDesk(for: folder)
      let vault = try Vault(at: folder.directory, desk: desk, owner: caller.user)
      let session = try VaultSession(of: vault, for: caller)
      state.open = OpenStore(vault: vault, desk: desk, session: session)
      return session
    }
  }

  package func create(_ place: StorePlace, passcode: consuming SecretBytes?) async throws(VaultError) -> StoreDraft {
    try state.withLock { state throws(VaultError) in try state.requireRunning() }
    let (new, draft) = try await Vault.newStore(at: place.folder.directory, passcode: passcode, owner: caller.user)
    // Closed meanwhile: the store goes with this call's last reference to it.
    try state.withLock { state throws(VaultError) in
      try state.requireRunning()
      state.drafts[draft.id] = new
    }
    return draft
  }

  /// - Throws: `invalidRequest` where the connection has no such draft, `storeExists` where something has taken the place
  ///   meanwhile; the draft is removed then.
  package func keep(_ draft: StoreDraft.ID) async throws(VaultError) {
    guard let new = state.withLock({ $0.drafts.removeValue(forKey: draft) }) else {
      throw .invalidRequest("this connection has no such new store")
    }
    try new.keep()
  }

  package func rebuildDeviceKey(at place: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError) {
    try Vault.rebuildDeviceKey(at: place.folder.directory, recoveryKey: recoveryKey, owner: caller.user)
  }

  package func close() async {
    let open = state.withLock { state in
      state.isClosed = true
      state.drafts = [:]
      defer { state.open = nil }
      return state.open
    }
    await open?.session.close()
    await open?.desk.shutdown()
    await open?.vault.close()
  }
}

extension StorePlace {
  /// - Throws: `invalidRequest` for a store of the service, which is another process.
  fileprivate var folder: StoreFolder {
    get throws(VaultError) {
      guard case .folder(let folder) = self else {
        throw .invalidRequest("a private vault opens stores in folders alone")
      }
      return folder
    }
  }
}

extension ReaderDesk {
  /// The readers of a store in this process, for it alone.
  fileprivate init(for place: StoreFolder) {
    // Where there is no such program, starting this one fails and says so: only what needs a finger is refused.
    let program = HelperPlaces.reader.locate(configured: place.readerProgram) ?? HelperPlaces.reader.installed[0]
    let reader = ReaderProcess(program: program, selection: place.reader, fprintd: place.fprintd ?? .system, trace: nil)
    // A recording plays once: the device must stay open from the first call to the last.
    let holdsReader = if case .replay = place.reader { true } else { false }
    self.init(reader, preference: ReaderPreference(place.reader), holdsReader: holdsReader)
  }
}
