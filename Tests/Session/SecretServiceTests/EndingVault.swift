import Presence
import Primitives
import ProgramDriver
import SecretModel
import SecretService
import Synchronization
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

/// A vault that ends during chosen calls: it passes all calls on to a real one, and does not answer these.
final class EndingVault: VaultService {
  enum Call: Hashable {
    /// Ends before it is made.
    case unlock
    /// Ends after it was made.
    case add
    case openSecrets
    /// Reads of items by their ids or a search.
    case secrets
    /// The vault, and with it the call's context, ends before the change is made.
    case update
  }

  private let vault: VaultSession
  private let state = Mutex<(ends: [Call: Int], counts: [Call: Int])>(([:], [:]))

  init(_ vault: VaultSession) { self.vault = vault }

  /// Ends during the next calls of this kind.
  func end(during call: Call, times: Int = 1) { state.withLock { $0.ends[call] = times } }

  /// How many calls of this kind there were.
  func count(of call: Call) -> Int { state.withLock { $0.counts[call] ?? 0 } }

  private func ends(during call: Call) throws(VaultError) {
    let ends = state.withLock { state in
      state.counts[call, default: 0] += 1
      guard let left = state.ends[call], left > 0 else { return false }
      state.ends[call] = left - 1
      return true
    }
    if ends { throw .outcomeUnknown }
  }

  func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    if case .open = selection { try ends(during: .openSecrets) } else { try ends(during: .secrets) }
    return try await vault.secrets(selection, asking)
  }

  func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking) async throws(VaultError)
    -> Item
  {
    let item = try await vault.add(item, secret: secret, replacing: replacing, asking)
    try ends(during: .add)
    return item
  }

  func unlock(_ asking: Asking) async throws(VaultError) {
    try ends(during: .unlock)
    try await vault.unlock(asking)
  }
}

extension EndingVault {
  /// Types the right passcode.
  struct Typist: AuthenticationPrompt {
    func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
      if case .secretWanted = event { await session.answer(SecretBytes(text: ScratchStore.passcode)) }
    }
  }

  /// Serves the Secret Service in this process over such a vault.
  static func with(
    firstUnlock: FirstUnlock = .none, _ body: (PrivateBus, EndingVault, SecretStore) async throws -> Void
  ) async throws {
    try await PrivateBus.with { bus in
      let scratch = try await ScratchStore(classKeys: ClassKeys(firstUnlock: firstUnlock))
      let vault = EndingVault(VaultSession(of: try scratch.open(classKeys: ClassKeys(firstUnlock: firstUnlock))))
      let beginning = try await SecretServiceServer.begin(
        .init(
          bus: bus.address, openStore: { SecretStore(service: vault, prompt: Typist()) },
          prompt: { _ in Typist() }, log: { _ in }, ended: {}))
      guard case .serving = beginning else { throw SystemFailure("\(beginning)", 0) }
      try await body(bus, vault, SecretStore(service: vault))
    }
  }
}

// What is passed on as it is.
extension EndingVault {
  func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  ) { try await vault.openContext(options) }
  func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async {
    await vault.respond(handle, response)
  }
  func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async {
    await vault.setApplicationPassword(password, of: handle)
  }
  func closeContext(_ handle: ContextHandle, reason: ContextEnd) async {
    await vault.closeContext(handle, reason: reason)
  }
  func items(_ search: ItemSearch, _ asking: Asking) async throws(VaultError) -> ItemPage {
    try await vault.items(search, asking)
  }
  func secrets(of ids: [ItemID], upTo size: Int, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await vault.secrets(of: ids, upTo: size, asking)
  }
  func add(_ items: [ItemToAdd]) async throws(VaultError) -> [RefusedItem] { try await vault.add(items) }
  func found(_ attributes: [String: String], in collection: String?, after: ItemCursor?) async throws(VaultError)
    -> FoundSecrets
  { try await vault.found(attributes, in: collection, after: after) }
  func authorize(_ ids: [ItemID], _ asking: Asking) async throws(VaultError) {
    try await vault.authorize(ids, asking)
  }
  func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int {
    do throws(VaultError) { try ends(during: .update) } catch { throw .contextInvalidated }
    return try await vault.update(selection, change, secret: secret, asking)
  }
  func delete(_ selection: ItemSelection) async throws(VaultError) -> Int { try await vault.delete(selection) }
  func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ asking: Asking
  ) async throws(VaultError) -> SealedCopy {
    try await vault.sealCopy(of: secret, under: keys, replacing: old, asking)
  }
  func addKey(_ item: NewItem, from source: KeySource) async throws(VaultError) -> Item {
    try await vault.addKey(item, from: source)
  }
  func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try await vault.useKey(id, use, asking)
  }
  var sync: any SyncService { vault.sync }
  func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness { try await vault.passkeyReadiness() }
  func makePasskey(_ passkey: NewPasskey, _ asking: Asking) async throws(VaultError) -> (Item, SignedCeremony) {
    try await vault.makePasskey(passkey, asking)
  }
  func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ asking: Asking) async throws(VaultError)
    -> [SignedCeremony]
  {
    try await vault.assertPasskeys(ids, assertion, asking)
  }
  func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]? {
    try await vault.evaluate(proof, asking)
  }
  func biometry() async throws(VaultError) -> Biometry { try await vault.biometry() }
  func presentSets() async throws(VaultError) -> [SetStatus] { try await vault.presentSets() }
  func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await vault.enroll(finger, asking)
  }
  func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await vault.unenroll(finger, asking)
  }
  func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] { try await vault.losses(change) }
  func lock() async throws(VaultError) { try await vault.lock() }
  func changePasscode(_ asking: Asking) async throws(VaultError) { try await vault.changePasscode(asking) }
  func reseal(to registers: [UInt8], _ asking: Asking) async throws(VaultError) {
    try await vault.reseal(to: registers, asking)
  }
  func setFirstUnlock(_ rule: FirstUnlock, _ asking: Asking) async throws(VaultError) {
    try await vault.setFirstUnlock(rule, asking)
  }
  func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await vault.removePasscode(asking)
  }
  func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await vault.recover(accepting: restore, asking)
  }
  func draftRecoveryKey() async throws(VaultError) -> SecretBytes { try await vault.draftRecoveryKey() }
  func keepRecoveryKey(_ asking: Asking) async throws(VaultError) { try await vault.keepRecoveryKey(asking) }
  func detectedRestore() async throws(VaultError) -> DetectedRestore? { try await vault.detectedRestore() }
  func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await vault.acceptRestore(id, asking)
  }
  func backUp(to file: Int32) async throws(VaultError) { try await vault.backUp(to: file) }
  func contents(ofBackup file: Int32) async throws(VaultError) -> BackupContents {
    try await vault.contents(ofBackup: file)
  }
  func restore(_ file: Int32, accepting id: BackupContents.ID, _ asking: Asking) async throws(VaultError)
    -> [ItemName]
  { try await vault.restore(file, accepting: id, asking) }
  func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError) {
    try await vault.useAdapter(adapter, asking)
  }
  func readers() async throws(VaultError) -> ReaderList { try await vault.readers() }
  func status() async throws(VaultError) -> VaultStatus { try await vault.status() }
  func openClasses() async throws(VaultError) -> [Accessibility] { try await vault.openClasses() }
  func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool { try await vault.unlockChange(from: isOpen) }
  func surroundings(otherThan known: Surroundings?) async throws(VaultError) -> Surroundings {
    try await vault.surroundings(otherThan: known)
  }
  func problems() async throws(VaultError) -> [VaultError] { try await vault.problems() }
  func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] { try await vault.log(search) }
}
