package import Fingerprint
package import SecretModel
package import SecureMemory

/// One client's use of a vault, for one connection. Its contexts are its own: the handle of another session is refused as
/// that of a closed context is, and a match in one of its contexts is reused by no other session.
package final class VaultSession: VaultService {
  private let vault: Vault
  private let client: Client
  private let authorizeFirstFinger: (@Sendable () async throws(VaultError) -> Void)?

  /// A session for the program that holds the vault itself.
  package init(of vault: Vault) {
    self.vault = vault
    client = Client(Caller(user: vault.owner))
    authorizeFirstFinger = nil
  }

  /// - Parameter authorizeFirstFinger: is asked before a finger is enrolled where none is, and throws what forbids it.
  /// - Throws: `serviceUnavailable` where the vault is another user's than the caller.
  package init(
    of vault: Vault, for caller: Caller,
    authorizeFirstFinger: (@Sendable () async throws(VaultError) -> Void)? = nil
  ) throws(VaultError) {
    guard caller.user == vault.owner else { throw .serviceUnavailable("this store belongs to another user") }
    self.vault = vault
    client = Client(caller)
    self.authorizeFirstFinger = authorizeFirstFinger
  }

  /// Ends every context of the session with `systemCancelled`.
  package func close() async { await vault.closeContexts(of: client) }

  private func request(_ asking: Asking) -> Request { Request(of: client, asking) }
}

// Authentication contexts
extension VaultSession {
  package func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    await vault.openContext(options, of: client)
  }

  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async {
    await vault.respond(handle, response, of: client)
  }

  package func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async {
    await vault.setApplicationPassword(password, of: handle, client)
  }

  package func closeContext(_ handle: ContextHandle, reason: ContextEnd) async {
    await vault.closeContext(handle, reason.error, of: client)
  }
}

// Items
extension VaultSession {
  package func items(_ search: ItemSearch, _ asking: Asking) async throws(VaultError) -> ItemPage {
    try await vault.items(search, request(asking))
  }

  package func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    try await vault.secrets(selection, request(asking))
  }

  package func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking)
    async throws(VaultError) -> Item
  {
    try await vault.add(item, secret: secret, replacing: replacing, request(asking))
  }

  package func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int {
    try await vault.update(selection, change, secret: secret, request(asking))
  }

  package func delete(_ selection: ItemSelection) async throws(VaultError) -> Int {
    try await vault.delete(selection)
  }

  package func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try await vault.useKey(id, use, request(asking))
  }
}

// Authentication, fingers, passcode and recovery
extension VaultSession {
  package func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]? {
    try await vault.evaluate(proof, request(asking))
  }

  package func biometry() async throws(VaultError) -> Biometry { try await vault.biometry() }

  package func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange {
    if let authorizeFirstFinger, try await vault.status().sets.allSatisfy(\.fingers.isEmpty) {
      try await authorizeFirstFinger()
    }
    return try await vault.enroll(finger, request(asking))
  }

  package func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await vault.unenroll(finger, request(asking))
  }

  package func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] {
    switch change {
    case .fingers: try await vault.boundItems()
    case .passcode: try await vault.passcodeLosses()
    }
  }

  package func unlock(_ asking: Asking) async throws(VaultError) { try await vault.unlock(request(asking)) }

  package func lock() async throws(VaultError) { try await vault.lock() }

  package func changePasscode(_ asking: Asking) async throws(VaultError) {
    try await vault.changePasscode(request(asking))
  }

  package func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await vault.removePasscode(request(asking))
  }

  package func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName]
  {
    try await vault.recover(accepting: restore, request(asking))
  }

  package func detectedRestore() async throws(VaultError) -> DetectedRestore? { try await vault.detectedRestore() }

  package func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await vault.acceptRestore(id, request(asking))
  }
}

// Readers and state
extension VaultSession {
  package func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError) {
    try await vault.use(adapter, request(asking))
  }

  package func readers() async throws(VaultError) -> ReaderList { await vault.readerList() }

  package func status() async throws(VaultError) -> VaultStatus { try await vault.status() }

  package func problems() async throws(VaultError) -> [VaultError] { try await vault.integrityProblems() }
}
