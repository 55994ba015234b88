import Keys
import Presence
package import Primitives
package import SecretModel
import Synchronization
import VaultItems
import VaultStore

/// One client's session with a vault, for one connection. Sessions do not share contexts or matches: the handle of
/// another session's context is refused like that of a closed one.
package final class VaultSession: VaultService {
  private let calls: LoggedCalls
  private let rules: FingerRules?
  /// The text of a recovery key that was shown and is not valid yet.
  private let recoveryKey = Mutex<SharedSecret?>(nil)
  /// Runs from the first call about the surroundings on.
  private let watch = Mutex<SurroundingsWatch?>(nil)

  /// A session for the program that holds the vault itself.
  package init(of vault: Vault) {
    calls = LoggedCalls(vault: vault, client: Client(Caller(user: vault.owner)), sessionLog: nil)
    rules = nil
  }

  /// - Parameters:
  ///   - rules: the machine's rules; nil where only the store's own apply.
  ///   - log: the log for the requests; nil for a vault without a log.
  /// - Throws: `serviceUnavailable` where the vault belongs to a user other than the caller.
  package init(
    of vault: Vault, for caller: Caller, rules: FingerRules? = nil, log: (any AuditLog)? = nil
  ) throws(VaultError) {
    guard caller.user == vault.owner else { throw .serviceUnavailable("this store belongs to another user") }
    calls = LoggedCalls(
      vault: vault, client: Client(caller), sessionLog: log.map { SessionLog($0, of: caller) })
    self.rules = rules
  }

  private var vault: Vault { calls.vault }
  private var client: Client { calls.client }
  private var sessionLog: SessionLog? { calls.sessionLog }

  /// Ends every context of the session with `systemCancelled`.
  package func close() async { await vault.closeContexts(of: client) }

  package func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] {
    guard let sessionLog else {
      throw .invalidRequest("only the system service keeps a log, and this store is private")
    }
    return try await sessionLog.log.entries(search)
  }
}

// Authentication contexts
extension VaultSession {
  package func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    let (handle, events) = await vault.openContext(options, of: client)
    sessionLog?.opened(handle, events)
    return (handle, events)
  }

  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async {
    await vault.respond(handle, response, of: client)
  }

  package func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async {
    await vault.setApplicationPassword(password, of: handle, client)
  }

  package func closeContext(_ handle: ContextHandle, reason: ContextEnd) async {
    await vault.closeContext(handle, reason.error, of: client)
    sessionLog?.closed(handle)
  }
}

// Items
extension VaultSession {
  package func items(_ search: ItemSearch, _ asking: Asking) async throws(VaultError) -> ItemPage {
    try await vault.items(search, calls.request(asking))
  }

  package func found(_ attributes: [String: String], in collection: String?, after: ItemCursor?)
    async throws(VaultError) -> FoundSecrets
  { try await Self.found(of: vault, attributes, in: collection, after: after) }

  private static func found(
    of vault: isolated Vault, _ attributes: [String: String], in collection: String?, after: ItemCursor?
  ) throws(VaultError) -> FoundSecrets { try vault.catalogue.found(attributes, in: collection, after: after) }

  package func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await calls.logged(.read, asking, selection, found: { $0.map(\.item.id) }) { () throws(VaultError) in
      try await vault.secrets(selection, calls.request(asking))
    }
  }

  package func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking)
    async throws(VaultError) -> Item
  {
    guard item.itemClass != .passkey else { throw .invalidRequest("a passkey is made for a site, or imported") }
    let secret = SharedSecret(secret)
    return try await calls.logged(.add, asking, found: { [$0.id] }) { () throws(VaultError) in
      try await vault.add(item, secret: secret.copy(), replacing: replacing, calls.request(asking))
    }
  }

  package func secrets(of ids: [ItemID], upTo size: Int, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await calls.logged(.read, asking, .ids(ids), found: { $0.map(\.item.id) }) { () throws(VaultError) in
      try await vault.secrets(of: ids, upTo: size, calls.request(asking))
    }
  }

  package func add(_ items: [ItemToAdd]) async throws(VaultError) -> [RefusedItem] {
    guard !items.contains(where: { $0.item.itemClass == .passkey }) else {
      throw .invalidRequest("a passkey is made for a site, or imported")
    }
    let results = try await calls.logged(.add, .nobody, found: { $0.compactMap { try? $0.get() } }) {
      () throws(VaultError) in
      try await vault.add(items)
    }
    return results.enumerated().compactMap { place, result in
      if case .failure(let error) = result { RefusedItem(place: place, error: error) } else { nil }
    }
  }

  package func authorize(_ ids: [ItemID], _ asking: Asking) async throws(VaultError) {
    try await calls.logged(.evaluate, asking, .ids(ids)) { () throws(VaultError) in
      try await AskedProofs.ask(of: vault, toRead: ids, calls.request(asking))
    }
  }

  package func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int {
    let shared: SharedSecret? = if let secret { SharedSecret(secret) } else { nil }
    return try await calls.logged(.change, asking, selection) { () throws(VaultError) in
      try await vault.update(selection, change, secret: shared?.copy(), calls.request(asking))
    }
  }

  package func delete(_ selection: ItemSelection) async throws(VaultError) -> Int {
    try await calls.logged(.delete, .nobody, selection) { () throws(VaultError) in try await vault.delete(selection) }
  }

  package func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ asking: Asking
  ) async throws(VaultError) -> SealedCopy {
    let secret = SharedSecret(secret)
    return try await calls.logged(.sealCopy, asking) { () throws(VaultError) in
      try await vault.sealCopy(of: secret.copy(), under: keys, replacing: old, calls.request(asking))
    }
  }

  package func addKey(_ item: NewItem, from source: KeySource) async throws(VaultError) -> Item {
    let made = try await KeyMaking.key(from: source, for: item, of: vault.owner)
    return try await calls.logged(.add, .nobody, found: { [$0.id] }) { () throws(VaultError) in
      try await vault.add(made.item, secret: made.secret.copy(), replacing: false, calls.request(.nobody))
    }
  }

  package func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try await calls.logged(.useKey, asking, .ids([id])) { () throws(VaultError) in
      try await vault.useKey(id, use, calls.request(asking))
    }
  }

  package func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness { try await vault.passkeyReadiness() }

  package func makePasskey(_ passkey: NewPasskey, _ asking: Asking) async throws(VaultError) -> (
    Item, SignedCeremony
  ) {
    try await calls.logged(.makePasskey, asking, found: { [$0.0.id] }) { () throws(VaultError) in
      try await vault.makePasskey(passkey, calls.request(asking))
    }
  }

  package func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ asking: Asking)
    async throws(VaultError) -> [SignedCeremony]
  {
    try await calls.logged(.assertPasskey, asking, .ids(ids)) { () throws(VaultError) in
      try await vault.assertPasskeys(ids, assertion, calls.request(asking))
    }
  }
}

// Other machines
extension VaultSession {
  package var sync: any SyncService { CircleSession(calls: calls) }
}

// Authentication, fingers, passcode and recovery
extension VaultSession {
  package func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]? {
    try await calls.logged(.evaluate, asking) { () throws(VaultError) in
      try await vault.evaluate(proof, calls.request(asking))
    }
  }

  package func biometry() async throws(VaultError) -> Biometry { try await vault.biometry(for: client.caller) }

  package func presentSets() async throws(VaultError) -> [SetStatus] { try await Self.presentSets(of: vault) }

  private static func presentSets(of vault: isolated Vault) async throws(VaultError) -> [SetStatus] {
    try await vault.presence.fingers.presentSets()
  }

  package func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await calls.logged(.enroll, asking) { () throws(VaultError) in
      if let rules {
        try await rules.change()
        try await rules.enrolment()
        if try await vault.status().sets.allSatisfy(\.fingers.isEmpty) { try await rules.owner(.firstFinger) }
      }
      return try await vault.enroll(finger, calls.request(asking))
    }
  }

  package func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await calls.logged(.unenroll, asking) { () throws(VaultError) in
      try await rules?.change()
      return try await vault.unenroll(finger, calls.request(asking))
    }
  }

  package func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] {
    try await vault.losses(change)
  }

  package func unlock(_ asking: Asking) async throws(VaultError) {
    try await calls.logged(.unlock, asking) { () throws(VaultError) in try await vault.unlock(calls.request(asking)) }
  }

  package func lock() async throws(VaultError) {
    try await calls.logged(.lock, .nobody) { () throws(VaultError) in try await vault.lock() }
  }

  package func changePasscode(_ asking: Asking) async throws(VaultError) {
    try await calls.logged(.changePasscode, asking) { () throws(VaultError) in
      try await vault.changePasscode(calls.request(asking))
    }
  }

  package func reseal(to registers: [UInt8], _ asking: Asking) async throws(VaultError) {
    try await calls.logged(.reseal, asking) { () throws(VaultError) in
      try await vault.reseal(to: registers, calls.request(asking))
    }
  }

  package func setFirstUnlock(_ rule: FirstUnlock, _ asking: Asking) async throws(VaultError) {
    try await calls.logged(.setFirstUnlock, asking) { () throws(VaultError) in
      try await vault.setFirstUnlock(rule, calls.request(asking))
    }
  }

  package func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await calls.logged(.removePasscode, asking) { () throws(VaultError) in
      try await vault.removePasscode(calls.request(asking))
    }
  }

  package func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName]
  {
    try await calls.logged(.recover, asking) { () throws(VaultError) in
      try await vault.recover(accepting: restore, calls.request(asking))
    }
  }

  package func draftRecoveryKey() async throws(VaultError) -> SecretBytes {
    let text: SharedSecret
    do throws(KeysError) {
      text = SharedSecret(try RecoveryKey.generate().text())
    } catch {
      throw VaultError(cause: error)
    }
    recoveryKey.withLock { $0 = text }
    return text.copy()
  }

  package func keepRecoveryKey(_ asking: Asking) async throws(VaultError) {
    try await calls.logged(.newRecoveryKey, asking) { () throws(VaultError) in
      guard let draft = recoveryKey.withLock({ $0 }) else { throw .invalidRequest("no new recovery key was made") }
      try await rules?.owner(.newRecoveryKey)
      try await vault.replaceRecoveryKey(by: draft, calls.request(asking))
      // Keep another draft that was made meanwhile: it is not valid yet.
      recoveryKey.withLock { if $0 === draft { $0 = nil } }
    }
  }

  package func detectedRestore() async throws(VaultError) -> DetectedRestore? { try await vault.detectedRestore() }

  package func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await calls.logged(.acceptRestore, asking) { () throws(VaultError) in
      try await vault.acceptRestore(id, calls.request(asking))
    }
  }
}

// Backups
extension VaultSession {
  package func backUp(to file: Int32) async throws(VaultError) {
    try await calls.logged(.backUp, .nobody) { () throws(VaultError) in try await vault.backUp(to: file) }
  }

  package func contents(ofBackup file: Int32) async throws(VaultError) -> BackupContents {
    try await vault.contents(ofBackup: file)
  }

  package func restore(
    _ file: Int32, accepting id: BackupContents.ID, _ asking: Asking
  ) async throws(VaultError) -> [ItemName] {
    try await calls.logged(.restore, asking) { () throws(VaultError) in
      try await vault.restore(file, accepting: id, calls.request(asking))
    }
  }
}

// Logins
extension VaultSession {
  /// Opens `after-first-unlock` for a login of the owner, if the store's rule allows it.
  ///
  /// - Returns: whether the class is open now.
  package func openForLogin() async throws(VaultError) -> Bool { try await vault.openForLogin() }

  /// Opens the store with a login password, given as the passcode.
  package func unlockForLogin(_ asking: Asking) async throws(VaultError) {
    try await calls.logged(.loginPassword, asking) { () throws(VaultError) in
      try await vault.unlock(calls.request(asking))
    }
  }

  /// Makes the account's new password the passcode. The old password is given as the current passcode.
  package func changePasscodeForLogin(_ asking: Asking) async throws(VaultError) {
    try await calls.logged(.loginPassword, asking) { () throws(VaultError) in
      try await vault.changePasscode(calls.request(asking))
    }
  }

  /// Logs that the account has a new password, but the passcode stays, because the old password was not given.
  package func keptPasscodeOfLogin() {
    sessionLog?.record(.loginPassword, since: nil, for: nil, items: [], .wrongPasscode)
  }

  /// Whether a login password may be tried as the passcode. Not after several wrong passcodes, so that a login password
  /// that is not the passcode locks nobody out.
  package func takesPasscodeOfLogin() async throws(VaultError) -> Bool { try await vault.takesPasscodeOfLogin() }

  /// Asks for an enrolled finger, to authenticate the owner to a login program, or to one that unlocks the screen. The match
  /// releases nothing.
  package func verifyForLogin(_ asking: Asking, unlocking: Bool = false) async throws(VaultError) {
    try await calls.logged(unlocking ? .unlockScreen : .verifyLogin, asking) { () throws(VaultError) in
      try await vault.verifyForLogin(calls.request(asking))
    }
  }
}

// Readers and state
extension VaultSession {
  package func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError) {
    try await calls.logged(.useAdapter, asking) { () throws(VaultError) in
      try await rules?.change()
      if let rules {
        // Without a recorded adapter, a store whose fingers were enrolled through libfprint takes fprintd's, too.
        let dropsLibfprint =
          if adapter == nil { try await vault.status().adapter?.sharesFingers == false } else { false }
        if adapter?.sharesFingers == true || dropsLibfprint { try await rules.enrolment() }
      }
      try await vault.use(adapter, calls.request(asking))
    }
  }

  package func readers() async throws(VaultError) -> ReaderList { await vault.readerList() }

  package func status() async throws(VaultError) -> VaultStatus { try await vault.status() }

  package func openClasses() async throws(VaultError) -> [Accessibility] { try await vault.openClasses() }

  package func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool {
    try await vault.unlockChange(from: isOpen)
  }

  package func surroundings(otherThan known: Surroundings?) async throws(VaultError) -> Surroundings {
    let started = await Self.watch(of: vault)
    let watch = watch.withLock { watch in
      let running = watch ?? started
      watch = running
      return running
    }
    return try await watch.surroundings(otherThan: known, for: client.caller)
  }

  private static func watch(of vault: isolated Vault) -> SurroundingsWatch { vault.presence.watch() }

  package func problems() async throws(VaultError) -> [VaultError] { try await vault.integrityProblems() }
}
