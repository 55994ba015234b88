package import Fingerprint
package import SecretModel
package import SecureMemory
import Synchronization

/// One client's use of a vault, for one connection. Its contexts are its own: the handle of another session is refused as
/// that of a closed context is.
package final class VaultSession: VaultService {
  private let vault: Vault
  private let handles = Mutex<Set<ContextHandle>>([])

  package init(of vault: Vault) { self.vault = vault }

  /// Ends every context of the session with `systemCancelled`.
  package func close() async {
    let open = handles.withLock { handles in
      defer { handles = [] }
      return handles
    }
    for handle in open { await vault.closeContext(handle, reason: ContextEnd.system.error) }
  }

  private func isOwn(_ handle: ContextHandle) -> Bool { handles.withLock { $0.contains(handle) } }

  /// The context that a call asks in, after its options were set.
  private func context(_ asking: Asking) async throws(VaultError) -> ContextHandle? {
    guard let handle = asking.context else { return nil }
    guard isOwn(handle) else { throw .contextInvalidated }
    if let options = asking.options { await vault.setOptions(options, of: handle) }
    return handle
  }

  /// The same for a call that always asks.
  private func person(_ asking: Asking) async throws(VaultError) -> ContextHandle {
    guard let handle = try await context(asking) else { throw .interactionNotAllowed }
    return handle
  }
}

// Authentication contexts
extension VaultSession {
  package func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    let opened = try await vault.openContext(options)
    handles.withLock { _ = $0.insert(opened.handle) }
    return opened
  }

  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async {
    if isOwn(handle) { await vault.respond(handle, response) }
  }

  package func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async {
    if isOwn(handle) { await vault.setApplicationPassword(password, of: handle) }
  }

  package func closeContext(_ handle: ContextHandle, reason: ContextEnd) async {
    guard handles.withLock({ $0.remove(handle) }) != nil else { return }
    await vault.closeContext(handle, reason: reason.error)
  }
}

// Items
extension VaultSession {
  package func items(_ search: ItemSearch, in context: ContextHandle?) async throws(VaultError) -> ItemPage {
    let handle = try await self.context(Asking(in: context))
    guard search.interaction != .allow else { return ItemPage(items: try await vault.items(search), next: nil) }
    var unlimited = search
    unlimited.limit = nil
    var found: [Item] = []
    for item in try await vault.items(unlimited) {
      if try await !vault.isSatisfied(item.id, by: handle) {
        guard search.interaction == .skip else { throw .interactionNotAllowed }
        continue
      }
      found.append(item)
      if found.count == search.limit { break }
    }
    return ItemPage(items: found, next: nil)
  }

  package func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    let ids = try await ids(selection, asking.context)
    guard !ids.isEmpty else { return [] }
    return try await vault.secrets(of: ids, reason: asking.reason, in: try await context(asking))
  }

  package func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking)
    async throws(VaultError) -> Item
  {
    try await vault.add(item, secret: secret, replacing: replacing, in: try await context(asking))
  }

  package func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int {
    let ids = try await ids(selection, asking.context)
    try await vault.update(ids, change, secret: secret, reason: asking.reason, in: try await context(asking))
    return Set(ids).count
  }

  package func delete(_ selection: ItemSelection) async throws(VaultError) -> Int {
    switch selection {
    case .ids(let ids): return try await vault.delete(ids)
    case .names: return try await vault.delete(try await ids(selection, nil))
    case .search(let search): return try await vault.delete(search) { _ in true }
    }
  }

  package func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try await vault.useKey(id, use, reason: asking.reason, in: try await context(asking))
  }

  private func ids(_ selection: ItemSelection, _ context: ContextHandle?) async throws(VaultError) -> [ItemID] {
    switch selection {
    case .ids(let ids): return ids
    case .search(let search): return try await items(search, in: context).items.map(\.id)
    case .names(let names):
      var ids: [ItemID] = []
      for name in names {
        guard let item = try await vault.items(ItemSearch(named: name)).first else { throw .itemGone }
        ids.append(item.id)
      }
      return ids
    }
  }
}

// Authentication, fingers, passcode and recovery
extension VaultSession {
  package func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]? {
    let handle = try await person(asking)
    switch proof {
    case .policy(let policy): try await vault.evaluate(policy, reason: asking.reason, in: handle)
    case .access(let access): try await vault.evaluate(access, reason: asking.reason, in: handle)
    }
    return try await vault.enrolmentState()
  }

  package func biometry() async throws(VaultError) -> Biometry { try await vault.biometry() }

  package func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await vault.enroll(finger, in: try await person(asking))
  }

  package func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await vault.unenroll(finger, in: try await person(asking))
  }

  package func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] {
    switch change {
    case .fingers: try await vault.boundItems()
    case .passcode: try await vault.passcodeLosses()
    }
  }

  package func unlock(_ asking: Asking) async throws(VaultError) {
    try await vault.unlock(in: try await person(asking))
  }

  package func changePasscode(_ asking: Asking) async throws(VaultError) {
    try await vault.changePasscode(in: try await person(asking))
  }

  package func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await vault.removePasscode(in: try await person(asking))
  }

  package func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName]
  {
    try await vault.recover(accepting: restore, in: try await person(asking))
  }

  package func detectedRestore() async throws(VaultError) -> DetectedRestore? { try await vault.detectedRestore() }

  package func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await vault.acceptRestore(id, in: try await person(asking))
  }
}

// Readers and state
extension VaultSession {
  package func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError) {
    try await vault.use(adapter, in: try await person(asking))
  }

  package func readers() async throws(VaultError) -> ReaderList { try await vault.readers() }

  package func status() async throws(VaultError) -> VaultStatus { try await vault.status() }

  package func problems() async throws(VaultError) -> [VaultError] { try await vault.integrityProblems() }
}
