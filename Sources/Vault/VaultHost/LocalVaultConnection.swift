import Glibc
import Presence
package import Primitives
import Processes
import ReaderClient
package import SecretModel
import Synchronization
import Vault
import VaultItems
import VaultStore
import VaultSync

/// Opens and creates stores in this process, with `whorl-reader` as a child process. `whorld` serves this to its
/// client; tests use it directly.
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

  /// - Parameter caller: the client; nil: this program itself.
  package init(for caller: Caller? = nil) { self.caller = caller ?? Caller(user: geteuid()) }

  /// Opens a store. The reader process starts when a reader is first needed.
  ///
  /// - Throws: `invalidRequest` if the connection has an open store, `storeNotFound`, and what is wrong with the store.
  package func open(_ place: StorePlace) async throws(VaultError) -> any VaultService {
    try state.withLock { state throws(VaultError) in
      try state.requireRunning()
      guard state.open == nil else { throw .invalidRequest("this connection has an open store") }
      let folder = try place.folder
      let desk = ReaderDesk(for: folder)
      let owner = try StoreOwner.ofStore(at: folder.directory, openedBy: caller.user)
      let vault = try Vault(at: folder.directory, desk: desk, owner: owner)
      var caller = caller
      caller.user = owner
      let session = try VaultSession(of: vault, for: caller)
      state.open = OpenStore(vault: vault, desk: desk, session: session)
      return session
    }
  }

  package func create(
    _ place: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft {
    try state.withLock { state throws(VaultError) in try state.requireRunning() }
    let (new, draft) = try await StoreCreation.newStore(
      at: place.folder.directory, passcode: passcode, owner: caller.user, allowsGuessable: allowsGuessable)
    // The connection may have been closed during the call. The new store is then removed with its last reference,
    // `new`.
    try state.withLock { state throws(VaultError) in
      try state.requireRunning()
      state.drafts[draft.id] = new
    }
    return draft
  }

  /// - Throws: `invalidRequest` if the connection has no such draft; `storeExists` if something else is there by
  ///   now; the draft is then removed.
  package func keep(_ draft: StoreDraft.ID) async throws(VaultError) {
    guard let new = state.withLock({ $0.drafts.removeValue(forKey: draft) }) else {
      throw .invalidRequest("this connection has no such new store")
    }
    try new.keep()
  }

  package func rebuildDeviceKey(at place: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError) {
    let directory = try place.folder.directory
    let recoveryKey = SharedSecret(recoveryKey)
    // It waits for other programs that change the store.
    try await BlockingCall.run { [user = caller.user] () throws(VaultError) in
      try StoreCreation.rebuildDeviceKey(
        at: directory, recoveryKey: recoveryKey.copy(), owner: StoreOwner.ofStore(at: directory, openedBy: user))
    }
  }

  package func makeStore(
    at place: StorePlace, ofBackup file: Int32, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) -> [ItemName] {
    let (new, leftOut) = try StoreCreation.newStore(
      at: place.folder.directory, from: file, recoveryKey: recoveryKey, owner: caller.user, takesOthers: true)
    try new.keep()
    return leftOut
  }

  package func openCopy(
    _ copy: SealedCopy, with opening: consuming SealedCopy.Opening
  ) async throws(VaultError) -> SecretBytes {
    try await copy.open(with: opening, user: caller.user)
  }

  /// Refused: a program that starts a private vault can start `whorl-reader`, too.
  package func lendReader() async throws(VaultError) -> ReaderSocket {
    throw .invalidRequest("a private vault lends no reader: a program starts whorl-reader itself")
  }

  package func walletKey(
    from password: consuming SecretBytes, salt: [UInt8]
  ) async throws(VaultError) -> SecretBytes {
    try WalletKey.derive(from: password, salt: salt)
  }

  package func encryptFile(
    from source: Int32, to target: Int32, for recipient: EncryptedFile.Recipient
  ) async throws(VaultError) {
    try await BlockingCall.run { () throws(VaultError) in
      try AgeFile.encrypt(from: source, to: target, for: recipient)
    }
  }

  package func fileKey(of file: Int32, with opening: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes {
    try await BlockingCall.run { () throws(VaultError) in
      SharedSecret(try AgeFile.key(of: file, with: opening))
    }.copy()
  }

  package func decryptFile(
    _ file: Int32, with key: consuming SecretBytes, to target: Int32
  ) async throws(VaultError) {
    let key = SharedSecret(key)
    try await BlockingCall.run { () throws(VaultError) in
      try AgeFile.decrypt(file, with: key.bytes, to: target)
    }
  }

  package func wrapFileKey(
    _ key: consuming SecretBytes, to recipient: AgePublicKey
  ) async throws(VaultError) -> [UInt8] { try AgeFile.wrap(key, to: recipient) }

  package func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair { try AgeFile.makeKeyPair() }

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
  /// - Throws: `invalidRequest` for a store of the service, which runs in another process.
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
  /// The readers of one store in this process.
  fileprivate init(for place: StoreFolder) {
    // If the program is missing, starting it fails later, so only calls that need a finger are refused.
    let program = HelperPlaces.reader.locate(configured: place.readerProgram) ?? HelperPlaces.reader.installed[0]
    let reader = ReaderProcess(program: program, selection: place.reader, fprintd: place.fprintd ?? .system, trace: nil)
    // A recording plays only once, so the device must stay open from the first call to the last.
    let holdsReader = if case .replay = place.reader { true } else { false }
    self.init(reader, preference: ReaderPreference(place.reader), holdsReader: holdsReader)
  }
}
