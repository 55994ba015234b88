import Primitives
import SecretModel
import Synchronization
import VaultDriver

/// A vault for tests of the connection: a few calls run a test's closures, and all others throw.
final class StubVault: VaultService, VaultConnection {
  struct Calls: Sendable {
    var items: @Sendable (ItemSearch) async throws(VaultError) -> ItemPage = { _ in ItemPage(items: [], next: nil) }
    var delete: @Sendable (ItemSelection) async throws(VaultError) -> Int = { _ in 0 }
    var unlock: @Sendable (Asking) async throws(VaultError) -> Void = { _ in }
    var respond: @Sendable () async -> Void = {}
    var close: @Sendable () async -> Void = {}
    var useKey: @Sendable (KeyUse, Asking) throws(VaultError) -> Void = { _, _ throws(VaultError) in
      throw StubVault.unused
    }
    var makePasskey: @Sendable (NewPasskey) throws(VaultError) -> (Item, SignedCeremony) = { _ throws(VaultError) in
      throw StubVault.unused
    }
    var assertPasskey: @Sendable (PasskeyAssertion) throws(VaultError) -> SignedCeremony = { _ throws(VaultError) in
      throw StubVault.unused
    }
    var update: @Sendable (ItemChange) throws(VaultError) -> Void = { _ throws(VaultError) in throw StubVault.unused }
    var evaluate: @Sendable (Proof) throws(VaultError) -> [UInt8]? = { _ throws(VaultError) in throw StubVault.unused }
    var enroll: @Sendable (Finger?) throws(VaultError) -> SetChange = { _ throws(VaultError) in throw StubVault.unused }
    var setFirstUnlock: @Sendable (FirstUnlock) throws(VaultError) -> Void = { _ throws(VaultError) in
      throw StubVault.unused
    }
    var useAdapter: @Sendable (ReaderAdapter?) throws(VaultError) -> Void = { _ throws(VaultError) in
      throw StubVault.unused
    }
    var readiness: PasskeyReadiness?
    var sync = StubSync()
    var biometry: Biometry?
    var readers: ReaderList?
    var status: VaultStatus?
    var restore: DetectedRestore?
    var problems: [VaultError] = []
    var log: @Sendable (AuditSearch) throws(VaultError) -> [AuditEntry] = { _ throws(VaultError) in
      throw StubVault.unused
    }
  }

  private struct State {
    var contexts: [ContextHandle: EventSource] = [:]
    var responses: [String] = []
    var ends: [ContextEnd] = []
    var isClosed = false
  }

  private let calls: Calls
  private let state = Mutex(State())

  init(_ calls: Calls = Calls()) { self.calls = calls }

  var responses: [String] { state.withLock { $0.responses } }
  var ends: [ContextEnd] { state.withLock { $0.ends } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Sends an event to the only open context.
  func yield(_ event: AuthenticationEvent) {
    state.withLock { _ = $0.contexts.values.first?.yield(event) }
  }

  static let unused = VaultError.internalError("not in this test")

  // VaultConnection
  func open(_: StorePlace) async throws(VaultError) -> any VaultService { self }
  func create(
    _: StorePlace, passcode: consuming SecretBytes?, allowsGuessable: Bool
  ) async throws(VaultError) -> StoreDraft { throw Self.unused }
  func keep(_: StoreDraft.ID) async throws(VaultError) { throw Self.unused }
  func rebuildDeviceKey(at: StorePlace, recoveryKey: consuming SecretBytes) async throws(VaultError) {
    throw Self.unused
  }
  func openCopy(_: SealedCopy, with _: consuming SealedCopy.Opening) async throws(VaultError) -> SecretBytes {
    throw Self.unused
  }
  func makeStore(
    at: StorePlace, ofBackup: Int32, recoveryKey: consuming SecretBytes
  ) async throws(VaultError) -> [ItemName] {
    throw Self.unused
  }
  func lendReader() async throws(VaultError) -> ReaderSocket { throw Self.unused }
  func walletKey(from _: consuming SecretBytes, salt _: [UInt8]) async throws(VaultError) -> SecretBytes {
    throw Self.unused
  }
  func encryptFile(from _: Int32, to _: Int32, for _: EncryptedFile.Recipient) async throws(VaultError) {
    throw Self.unused
  }
  func fileKey(of _: Int32, with _: EncryptedFile.Opening) async throws(VaultError) -> SecretBytes { throw Self.unused }
  func decryptFile(_: Int32, with _: consuming SecretBytes, to _: Int32) async throws(VaultError) { throw Self.unused }
  func wrapFileKey(_: consuming SecretBytes, to _: AgePublicKey) async throws(VaultError) -> [UInt8] {
    throw Self.unused
  }
  func makeKeyPair() async throws(VaultError) -> EncryptedFile.KeyPair { throw Self.unused }
  func close() async {
    state.withLock { $0.isClosed = true }
    await calls.close()
  }

  // VaultService
  func sealCopy(
    of _: consuming SecretBytes, under _: SealedCopy.Keys, replacing _: SealedCopy?, _: Asking
  ) async throws(VaultError) -> SealedCopy { throw Self.unused }
  func addKey(_: NewItem, from _: KeySource) async throws(VaultError) -> Item { throw Self.unused }
  func openContext(_: ContextOptions) async throws(VaultError) -> (handle: ContextHandle, events: ContextEvents) {
    let (stream, continuation) = AsyncStream.makeStream(of: NumberedEvent.self)
    let source = EventSource(continuation)
    let handle = ContextHandle(bytes: (0..<16).map { _ in .random(in: 0...255) })
    state.withLock { $0.contexts[handle] = source }
    return (handle, ContextEvents(stream, source))
  }
  func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] { try calls.log(search) }
  func respond(_: ContextHandle, _ response: consuming ContextResponse) async {
    let word: String
    switch consume response {
    case .secret(let question, let secret): word = "secret \(question): \(secret.text)"
    case .decline(let question): word = "decline \(question)"
    case .ready(let question): word = "ready \(question)"
    case .reject(let notice): word = "reject \(notice)"
    case .fallback: word = "fallback"
    case .cancel: word = "cancel"
    }
    state.withLock { $0.responses.append(word) }
    await calls.respond()
  }
  func setApplicationPassword(_: consuming SecretBytes?, of: ContextHandle) async {}
  func closeContext(_ handle: ContextHandle, reason: ContextEnd) async {
    let source = state.withLock { state in
      state.ends.append(reason)
      return state.contexts.removeValue(forKey: handle)
    }
    source?.finish()
  }
  func items(_ search: ItemSearch, _: Asking) async throws(VaultError) -> ItemPage {
    try await calls.items(search)
  }
  func secrets(_: ItemSelection, _: Asking) async throws(VaultError) -> [ReleasedItem] { throw Self.unused }
  func secrets(of _: [ItemID], upTo _: Int, _: Asking) async throws(VaultError) -> [ReleasedItem] { throw Self.unused }
  func found(_: [String: String], in _: String?, after _: ItemCursor?) async throws(VaultError) -> FoundSecrets {
    throw Self.unused
  }
  func authorize(_: [ItemID], _: Asking) async throws(VaultError) { throw Self.unused }
  func add(_: [ItemToAdd]) async throws(VaultError) -> [RefusedItem] { throw Self.unused }
  func add(_: NewItem, secret: consuming SecretBytes, replacing: Bool, _: Asking) async throws(VaultError) -> Item {
    throw Self.unused
  }
  func update(
    _: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _: Asking
  ) async throws(VaultError) -> Int {
    try calls.update(change)
    return -1
  }
  func delete(_ selection: ItemSelection) async throws(VaultError) -> Int { try await calls.delete(selection) }
  func useKey(_: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try calls.useKey(use, asking)
    return SecretBytes(text: "result")
  }
  var sync: any SyncService { calls.sync }
  func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness { try known(calls.readiness) }
  func makePasskey(_ passkey: NewPasskey, _: Asking) async throws(VaultError) -> (Item, SignedCeremony) {
    try calls.makePasskey(passkey)
  }
  func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _: Asking) async throws(VaultError)
    -> [SignedCeremony]
  {
    let signed = try calls.assertPasskey(assertion)
    return ids.map { _ in signed }
  }
  func evaluate(_ proof: Proof, _: Asking) async throws(VaultError) -> [UInt8]? { try calls.evaluate(proof) }
  func biometry() async throws(VaultError) -> Biometry { try known(calls.biometry) }
  func presentSets() async throws(VaultError) -> [SetStatus] { try known(calls.status).sets }
  func enroll(_ finger: Finger, _: Asking) async throws(VaultError) -> SetChange { try calls.enroll(finger) }
  func unenroll(_ finger: Finger?, _: Asking) async throws(VaultError) -> SetChange { try calls.enroll(finger) }
  func losses(_: LosingChange) async throws(VaultError) -> [ItemName] { throw Self.unused }
  func unlock(_ asking: Asking) async throws(VaultError) { try await calls.unlock(asking) }
  func lock() async throws(VaultError) { throw Self.unused }
  func changePasscode(_: Asking) async throws(VaultError) { throw Self.unused }
  func reseal(to _: [UInt8], _: Asking) async throws(VaultError) { throw Self.unused }
  func removePasscode(_: Asking) async throws(VaultError) -> [ItemName] { throw Self.unused }
  func recover(accepting: DetectedRestore.ID?, _: Asking) async throws(VaultError) -> [ItemName] { throw Self.unused }
  func draftRecoveryKey() async throws(VaultError) -> SecretBytes { throw Self.unused }
  func keepRecoveryKey(_: Asking) async throws(VaultError) { throw Self.unused }
  func detectedRestore() async throws(VaultError) -> DetectedRestore? { calls.restore }
  func acceptRestore(_: DetectedRestore.ID, _: Asking) async throws(VaultError) -> [ItemName] { throw Self.unused }
  func backUp(to: Int32) async throws(VaultError) { throw Self.unused }
  func contents(ofBackup: Int32) async throws(VaultError) -> BackupContents { throw Self.unused }
  func restore(_: Int32, accepting: BackupContents.ID, _: Asking) async throws(VaultError) -> [ItemName] {
    throw Self.unused
  }
  func setFirstUnlock(_ rule: FirstUnlock, _: Asking) async throws(VaultError) { try calls.setFirstUnlock(rule) }
  func useAdapter(_ adapter: ReaderAdapter?, _: Asking) async throws(VaultError) { try calls.useAdapter(adapter) }
  func readers() async throws(VaultError) -> ReaderList { try known(calls.readers) }
  func status() async throws(VaultError) -> VaultStatus { try known(calls.status) }
  func openClasses() async throws(VaultError) -> [Accessibility] { try known(calls.status).openClasses }
  func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool { !isOpen }
  func surroundings(otherThan known: Surroundings?) async throws(VaultError) -> Surroundings {
    Surroundings(changes: (known?.changes ?? 0) + 1, locks: (known?.locks ?? 0) + 2, refusal: .lidClosed)
  }
  func problems() async throws(VaultError) -> [VaultError] { calls.problems }

  private func known<Value>(_ value: Value?) throws(VaultError) -> Value {
    guard let value else { throw Self.unused }
    return value
  }
}
