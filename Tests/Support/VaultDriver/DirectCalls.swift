import Presence
package import Primitives
package import SecretModel
package import Vault

/// The calls of a vault, for tests that hold the vault itself and act as one client.
extension Vault {
  private nonisolated func direct(_ handle: ContextHandle?, _ reason: String? = nil) -> Request {
    Request(of: itself, Asking(in: handle, reason: reason))
  }

  package func openContext(_ options: ContextOptions = ContextOptions())
    throws(VaultError) -> (handle: ContextHandle, events: ContextEvents)
  {
    openContext(options, of: itself)
  }

  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async {
    await respond(handle, response, of: itself)
  }

  package func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) {
    setApplicationPassword(password, of: handle, itself)
  }

  package func closeContext(_ handle: ContextHandle, reason: VaultError = .cancelled) {
    closeContext(handle, reason, of: itself)
  }

  /// All items that a search finds, from all pages.
  package func items(_ search: ItemSearch) throws(VaultError) -> [Item] {
    var (search, found) = (search, [Item]())
    while true {
      let page = try items(search, direct(nil))
      found += page.items
      guard let next = page.next else { return found }
      search.after = next
    }
  }

  package func secrets(of ids: [ItemID], reason: String?, in handle: ContextHandle?)
    async throws(VaultError) -> [ReleasedItem]
  {
    try await secrets(.ids(ids), direct(handle, reason))
  }

  /// Whether reading the item in this context would ask for nothing.
  package func isSatisfied(_ id: ItemID, by handle: ContextHandle?) throws(VaultError) -> Bool {
    var search = ItemSearch(ids: [id], synchronizable: .any)
    search.interaction = .skip
    return try !items(search, direct(handle)).items.isEmpty
  }

  @discardableResult
  package func add(
    _ item: NewItem, secret: consuming SecretBytes, replacing: Bool = false, in handle: ContextHandle?
  ) async throws(VaultError) -> Item {
    try await add(item, secret: secret, replacing: replacing, direct(handle))
  }

  package func update(
    _ ids: [ItemID], _ change: ItemChange, secret: consuming SecretBytes?, reason: String?, in handle: ContextHandle?
  ) async throws(VaultError) {
    _ = try await update(.ids(ids), change, secret: secret, direct(handle, reason))
  }

  @discardableResult
  package func delete(_ ids: [ItemID]) throws(VaultError) -> Int { try delete(.ids(ids)) }

  package func useKey(_ id: ItemID, _ use: KeyUse, reason: String?, in handle: ContextHandle?)
    async throws(VaultError) -> SecretBytes
  {
    try await useKey(id, use, direct(handle, reason))
  }

  package func evaluate(_ policy: AuthenticationPolicy, reason: String?, in handle: ContextHandle)
    async throws(VaultError)
  {
    _ = try await evaluate(.policy(policy), direct(handle, reason))
  }

  package func evaluate(_ access: AccessControl, reason: String?, in handle: ContextHandle) async throws(VaultError) {
    _ = try await evaluate(.access(access), direct(handle, reason))
  }

  package func biometryProblem() async -> VaultError? {
    do throws(VaultError) {
      return try await biometry().problem
    } catch {
      return error
    }
  }

  package func enroll(_ finger: Finger, in handle: ContextHandle) async throws(VaultError) -> SetChange {
    try await enroll(finger, direct(handle))
  }

  package func unenroll(_ finger: Finger?, in handle: ContextHandle) async throws(VaultError) -> SetChange {
    try await unenroll(finger, direct(handle))
  }

  package func unlock(in handle: ContextHandle) async throws(VaultError) { try await unlock(direct(handle)) }

  package func changePasscode(in handle: ContextHandle) async throws(VaultError) {
    try await changePasscode(direct(handle))
  }

  /// Replaces the recovery key by this one.
  package func replaceRecoveryKey(by text: String, in handle: ContextHandle) async throws(VaultError) {
    try await replaceRecoveryKey(by: SharedSecret(SecretBytes(text: text)), direct(handle))
  }

  package func reseal(to registers: [UInt8] = [], in handle: ContextHandle) async throws(VaultError) {
    try await reseal(to: registers, direct(handle))
  }

  package func removePasscode(in handle: ContextHandle) async throws(VaultError) -> [ItemName] {
    try await removePasscode(direct(handle))
  }

  @discardableResult
  package func recover(accepting restore: DetectedRestore.ID? = nil, in handle: ContextHandle)
    async throws(VaultError) -> [ItemName]
  {
    try await recover(accepting: restore, direct(handle))
  }

  package func acceptRestore(_ id: DetectedRestore.ID, in handle: ContextHandle) async throws(VaultError) -> [ItemName]
  {
    try await acceptRestore(id, direct(handle))
  }

  package func use(_ adapter: ReaderAdapter?, in handle: ContextHandle) async throws(VaultError) {
    try await use(adapter, direct(handle))
  }
}

/// The calls about passkeys.
extension Vault {
  package func makePasskey(_ passkey: NewPasskey, in handle: ContextHandle?) async throws(VaultError) -> (
    Passkey, SignedCeremony
  ) {
    let (item, signed) = try await makePasskey(passkey, Request(of: itself, Asking(in: handle)))
    guard let made = Passkey(item) else { throw .internalError("no passkey was made") }
    return (made, signed)
  }

  package func assertPasskey(_ id: ItemID, _ assertion: PasskeyAssertion, in handle: ContextHandle?)
    async throws(VaultError) -> SignedCeremony
  {
    try await assertPasskeys([id], assertion, Request(of: itself, Asking(in: handle)))[0]
  }
}
