package import Fingerprint
import Keys
import Presence
package import SecretModel
package import SecureMemory
import Synchronization
import VaultItems
import VaultStore

/// One client's session with a vault, for one connection. Sessions do not share contexts or matches: the handle of
/// another session's context is refused like that of a closed one.
package final class VaultSession: VaultService {
  private let vault: Vault
  private let client: Client
  private let rules: FingerRules?
  /// Nil where nothing is logged.
  private let sessionLog: SessionLog?
  /// The text of a recovery key that was shown and is not valid yet.
  private let recoveryKey = Mutex<SharedSecret?>(nil)
  /// Runs from the first call about the surroundings on.
  private let watch = Mutex<SurroundingsWatch?>(nil)

  /// A session for the program that holds the vault itself.
  package init(of vault: Vault) {
    self.vault = vault
    client = Client(Caller(user: vault.owner))
    rules = nil
    sessionLog = nil
  }

  /// - Parameters:
  ///   - rules: the machine's rules; nil where only the store's own apply.
  ///   - log: the log for the requests; nil for a vault without a log.
  /// - Throws: `serviceUnavailable` where the vault belongs to a user other than the caller.
  package init(
    of vault: Vault, for caller: Caller, rules: FingerRules? = nil, log: (any AuditLog)? = nil
  ) throws(VaultError) {
    guard caller.user == vault.owner else { throw .serviceUnavailable("this store belongs to another user") }
    self.vault = vault
    client = Client(caller)
    self.rules = rules
    sessionLog = log.map { SessionLog($0, of: caller) }
  }

  /// Ends every context of the session with `systemCancelled`.
  package func close() async { await vault.closeContexts(of: client) }

  private func request(_ asking: Asking) -> Request { Request(of: client, asking) }

  // MARK: The log

  /// Runs a call and logs it.
  ///
  /// - Parameters:
  ///   - asking: without a context, nobody may be asked. A call that fails for this reason is not logged, since
  ///     programs try this first and then repeat the call with a context.
  ///   - selection: the items of the call.
  ///   - found: returns the items that the answer names.
  private func logged<Answer: ~Copyable>(
    _ request: AuditEntry.Request, _ asking: Asking, _ selection: ItemSelection = .ids([]),
    found: (borrowing Answer) -> [ItemID]? = { _ in nil }, _ call: () async throws(VaultError) -> Answer
  ) async throws(VaultError) -> Answer {
    guard let sessionLog else { return try await call() }
    let before = request.changesItems ? await ids(of: selection) : nil
    let start = sessionLog.start(in: asking.context)
    do throws(VaultError) {
      let answer = try await call()
      let items = if let ids = before ?? found(answer) { ids } else { await ids(of: selection) }
      // Do not log a read that found nothing: programs use it to test whether an item exists and requires nothing.
      if request == .read, items.isEmpty { return answer }
      sessionLog.record(request, since: start, for: asking.behalf, items: items, nil)
      return answer
    } catch {
      guard asking.context != nil || error != .interactionNotAllowed else { throw error }
      let items = if let before { before } else { await ids(of: selection) }
      sessionLog.record(request, since: start, for: asking.behalf, items: items, error)
      throw error
    }
  }

  /// The items of a call, if they can be found without asking anybody.
  private func ids(of selection: ItemSelection) async -> [ItemID] {
    let searches: [ItemSearch]
    switch selection {
    case .ids(let ids): return ids
    case .names(let names): searches = names.prefix(SessionLog.itemLimit).map { ItemSearch(named: $0) }
    case .open(let names, let group):
      searches = names.prefix(SessionLog.itemLimit).map { ItemSearch(named: $0, in: group) }
    case .search(var search):
      search.interaction = .allow
      search.limit = min(search.limit ?? SessionLog.itemLimit, SessionLog.itemLimit)
      searches = [search]
    }
    var ids: [ItemID] = []
    for search in searches {
      if let page = try? await vault.items(search, request(.nobody)) { ids += page.items.map(\.id) }
    }
    return ids
  }

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
    try await vault.items(search, request(asking))
  }

  package func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await logged(.read, asking, selection, found: { $0.map(\.item.id) }) { () throws(VaultError) in
      try await vault.secrets(selection, request(asking))
    }
  }

  package func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking)
    async throws(VaultError) -> Item
  {
    guard item.itemClass != .passkey else { throw .invalidRequest("a passkey is made for a site, or imported") }
    let secret = SharedSecret(secret)
    return try await logged(.add, asking, found: { [$0.id] }) { () throws(VaultError) in
      try await vault.add(item, secret: secret.copy(), replacing: replacing, request(asking))
    }
  }

  package func secrets(of ids: [ItemID], upTo size: Int, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await logged(.read, asking, .ids(ids), found: { $0.map(\.item.id) }) { () throws(VaultError) in
      try await vault.secrets(of: ids, upTo: size, request(asking))
    }
  }

  package func add(_ items: [ItemToAdd]) async throws(VaultError) -> [RefusedItem] {
    guard !items.contains(where: { $0.item.itemClass == .passkey }) else {
      throw .invalidRequest("a passkey is made for a site, or imported")
    }
    let results = try await logged(.add, .nobody, found: { $0.compactMap { try? $0.get() } }) { () throws(VaultError) in
      try await vault.add(items)
    }
    return results.enumerated().compactMap { place, result in
      if case .failure(let error) = result { RefusedItem(place: place, error: error) } else { nil }
    }
  }

  package func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int {
    let shared: SharedSecret? = if let secret { SharedSecret(secret) } else { nil }
    return try await logged(.change, asking, selection) { () throws(VaultError) in
      try await vault.update(selection, change, secret: shared?.copy(), request(asking))
    }
  }

  package func delete(_ selection: ItemSelection) async throws(VaultError) -> Int {
    try await logged(.delete, .nobody, selection) { () throws(VaultError) in try await vault.delete(selection) }
  }

  package func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ asking: Asking
  ) async throws(VaultError) -> SealedCopy {
    let secret = SharedSecret(secret)
    return try await logged(.sealCopy, asking) { () throws(VaultError) in
      try await vault.sealCopy(of: secret.copy(), under: keys, replacing: old, request(asking))
    }
  }

  package func addKey(_ item: NewItem, from source: KeySource) async throws(VaultError) -> Item {
    let made = try await KeyMaking.key(from: source, for: item, of: vault.owner)
    return try await logged(.add, .nobody, found: { [$0.id] }) { () throws(VaultError) in
      try await vault.add(made.item, secret: made.secret.copy(), replacing: false, request(.nobody))
    }
  }

  package func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try await logged(.useKey, asking, .ids([id])) { () throws(VaultError) in
      try await vault.useKey(id, use, request(asking))
    }
  }

  package func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness { try await vault.passkeyReadiness() }

  package func makePasskey(_ passkey: NewPasskey, _ asking: Asking) async throws(VaultError) -> (
    Item, SignedCeremony
  ) {
    try await logged(.makePasskey, asking, found: { [$0.0.id] }) { () throws(VaultError) in
      try await vault.makePasskey(passkey, request(asking))
    }
  }

  package func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ asking: Asking)
    async throws(VaultError) -> [SignedCeremony]
  {
    try await logged(.assertPasskey, asking, .ids(ids)) { () throws(VaultError) in
      try await vault.assertPasskeys(ids, assertion, request(asking))
    }
  }
}

// Authentication, fingers, passcode and recovery
extension VaultSession {
  package func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]? {
    try await logged(.evaluate, asking) { () throws(VaultError) in
      try await vault.evaluate(proof, request(asking))
    }
  }

  package func biometry() async throws(VaultError) -> Biometry { try await vault.biometry(for: client.caller) }

  package func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await logged(.enroll, asking) { () throws(VaultError) in
      if let rules {
        try await rules.change()
        try await rules.enrolment()
        if try await vault.status().sets.allSatisfy(\.fingers.isEmpty) { try await rules.owner() }
      }
      return try await vault.enroll(finger, request(asking))
    }
  }

  package func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await logged(.unenroll, asking) { () throws(VaultError) in
      try await rules?.change()
      return try await vault.unenroll(finger, request(asking))
    }
  }

  package func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] {
    try await vault.losses(change)
  }

  package func unlock(_ asking: Asking) async throws(VaultError) {
    try await logged(.unlock, asking) { () throws(VaultError) in try await vault.unlock(request(asking)) }
  }

  package func lock() async throws(VaultError) {
    try await logged(.lock, .nobody) { () throws(VaultError) in try await vault.lock() }
  }

  package func changePasscode(_ asking: Asking) async throws(VaultError) {
    try await logged(.changePasscode, asking) { () throws(VaultError) in
      try await vault.changePasscode(request(asking))
    }
  }

  package func reseal(to registers: [UInt8], _ asking: Asking) async throws(VaultError) {
    try await logged(.reseal, asking) { () throws(VaultError) in
      try await vault.reseal(to: registers, request(asking))
    }
  }

  package func setFirstUnlock(_ rule: FirstUnlock, _ asking: Asking) async throws(VaultError) {
    try await logged(.setFirstUnlock, asking) { () throws(VaultError) in
      try await vault.setFirstUnlock(rule, request(asking))
    }
  }

  package func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await logged(.removePasscode, asking) { () throws(VaultError) in
      try await vault.removePasscode(request(asking))
    }
  }

  package func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName]
  {
    try await logged(.recover, asking) { () throws(VaultError) in
      try await vault.recover(accepting: restore, request(asking))
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
    try await logged(.newRecoveryKey, asking) { () throws(VaultError) in
      guard let draft = recoveryKey.withLock({ $0 }) else { throw .invalidRequest("no new recovery key was made") }
      try await rules?.owner()
      try await vault.replaceRecoveryKey(by: draft, request(asking))
      // Keep another draft that was made meanwhile: it is not valid yet.
      recoveryKey.withLock { if $0 === draft { $0 = nil } }
    }
  }

  package func detectedRestore() async throws(VaultError) -> DetectedRestore? { try await vault.detectedRestore() }

  package func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await logged(.acceptRestore, asking) { () throws(VaultError) in
      try await vault.acceptRestore(id, request(asking))
    }
  }
}

// Backups
extension VaultSession {
  package func backUp(to file: Int32) async throws(VaultError) {
    try await logged(.backUp, .nobody) { () throws(VaultError) in try await vault.backUp(to: file) }
  }

  package func contents(ofBackup file: Int32) async throws(VaultError) -> BackupContents {
    try await vault.contents(ofBackup: file)
  }

  package func restore(
    _ file: Int32, accepting id: BackupContents.ID, _ asking: Asking
  ) async throws(VaultError) -> [ItemName] {
    try await logged(.restore, asking) { () throws(VaultError) in
      try await vault.restore(file, accepting: id, request(asking))
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
    try await logged(.loginPassword, asking) { () throws(VaultError) in
      try await vault.unlock(request(asking))
    }
  }

  /// Makes the account's new password the passcode. The old password is given as the current passcode.
  package func changePasscodeForLogin(_ asking: Asking) async throws(VaultError) {
    try await logged(.loginPassword, asking) { () throws(VaultError) in
      try await vault.changePasscode(request(asking))
    }
  }

  /// Logs that the account has a new password, but the passcode stays, because the old password was not given.
  package func keptPasscodeOfLogin() {
    sessionLog?.record(.loginPassword, since: nil, for: nil, items: [], .wrongPasscode)
  }

  /// Whether a login password may be tried as the passcode. Not after several wrong passcodes, so that a login password
  /// that is not the passcode locks nobody out.
  package func takesPasscodeOfLogin() async throws(VaultError) -> Bool { try await vault.takesPasscodeOfLogin() }

  /// Asks for an enrolled finger, to authenticate the owner to a login program. The match releases nothing.
  package func verifyForLogin(_ asking: Asking) async throws(VaultError) {
    try await logged(.verifyLogin, asking) { () throws(VaultError) in
      try await vault.verifyForLogin(request(asking))
    }
  }
}

// Readers and state
extension VaultSession {
  package func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError) {
    try await logged(.useAdapter, asking) { () throws(VaultError) in
      try await rules?.change()
      if let rules {
        // Without a recorded adapter, a store whose fingers were enrolled through libfprint takes fprintd's, too.
        let dropsLibfprint =
          if adapter == nil { try await vault.status().adapter?.sharesFingers == false } else { false }
        if adapter?.sharesFingers == true || dropsLibfprint { try await rules.enrolment() }
      }
      try await vault.use(adapter, request(asking))
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
