internal import Fingerprint
internal import SDBus
internal import SecretModel
internal import SecureMemory

/// An open store of a vault in another process.
final class RemoteVault: VaultService {
  private let wire: VaultWire

  init(_ wire: VaultWire) { self.wire = wire }

  // MARK: Contexts

  func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    let values = try await wire.call(.openContext, [options.busValue])
    let handle = try wire.reading(.openContext) { () throws(VaultError) in try ContextHandle(bus: values[0]) }
    let (stream, continuation) = AsyncStream.makeStream(of: NumberedEvent.self)
    let source = EventSource(continuation)
    wire.contexts.add(handle, source)
    return (handle, ContextEvents(stream, source))
  }

  func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async {
    await wire.tell(.respond, response.busValues(in: handle), in: handle)
  }

  func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async {
    guard let password = try? SecretBytes.sealed(password) else { return }
    await wire.tell(.setApplicationPassword, [handle.busValue, password], in: handle)
  }

  func closeContext(_ handle: ContextHandle, reason: ContextEnd) async {
    await wire.tell(.closeContext, [handle.busValue, reason.busValue], in: handle)
    wire.contexts.remove(handle)
  }

  // MARK: Items

  func items(_ search: ItemSearch, _ asking: Asking) async throws(VaultError) -> ItemPage {
    let values = try await wire.call(.items, [search.busValue, asking.busValue], in: asking.context)
    return try wire.reading(.items) { () throws(VaultError) in
      ItemPage(items: try [Item](bus: values[0]), next: try ItemCursor.optional(bus: values[1]))
    }
  }

  func secrets(_ selection: ItemSelection, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    let values = try await wire.call(.secrets, [selection.busValue, asking.busValue], in: asking.context)
    return try wire.reading(.secrets) { () throws(VaultError) in try ReleasedItems(bus: values).items }
  }

  func secrets(of ids: [ItemID], upTo size: Int, _ asking: Asking) async throws(VaultError) -> [ReleasedItem] {
    let values = try await wire.call(
      .firstSecrets, [ids.busValue, size.busValue, asking.busValue], in: asking.context)
    return try wire.reading(.firstSecrets) { () throws(VaultError) in try ReleasedItems(bus: values).items }
  }

  func add(_ items: [ItemToAdd]) async throws(VaultError) -> [RefusedItem] {
    let values = try await wire.call(.addAll, try ItemsToAdd(items).busValues)
    return try wire.reading(.addAll) { () throws(VaultError) in
      let refused = try [RefusedItem](bus: values[0])
      guard refused.allSatisfy({ items.indices.contains($0.place) }) else { throw .unreadable(RefusedItem.self) }
      return refused
    }
  }

  func add(
    _ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ asking: Asking
  ) async throws(VaultError) -> Item {
    let secret = try Self.sealed(secret)
    return try await wire.make(
      .add, [item.busValue, secret, replacing.busValue, asking.busValue], in: asking.context)
  }

  func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ asking: Asking
  ) async throws(VaultError) -> Int {
    let secrets: BusValue =
      switch consume secret {
      case .some(let secret): .array(of: "h", [try Self.sealed(secret)])
      case .none: .array(of: "h", [])
      }
    return try await wire.make(
      .update, [selection.busValue, change.busValue, secrets, asking.busValue], in: asking.context)
  }

  func delete(_ selection: ItemSelection) async throws(VaultError) -> Int {
    try await wire.make(.delete, [selection.busValue])
  }

  func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ asking: Asking
  ) async throws(VaultError) -> SealedCopy {
    try await wire.make(
      .sealCopy, [try Self.sealed(secret), keys.busValue, .bytes(old?.bytes ?? []), asking.busValue],
      in: asking.context)
  }

  func addKey(_ item: NewItem, from source: KeySource) async throws(VaultError) -> Item {
    try await wire.make(.addKey, [item.busValue] + source.busValues)
  }

  func useKey(_ id: ItemID, _ use: KeyUse, _ asking: Asking) async throws(VaultError) -> SecretBytes {
    try await wire.secret(
      .useKey, [id.busValue, use.busValue, asking.busValue], in: asking.context, limit: ReleasedItem.sizeLimit)
  }

  func passkeyReadiness() async throws(VaultError) -> PasskeyReadiness { try await wire.make(.passkeyReadiness) }

  func makePasskey(_ passkey: NewPasskey, _ asking: Asking) async throws(VaultError) -> (Item, SignedCeremony) {
    let values = try await wire.call(.makePasskey, [passkey.busValue, asking.busValue], in: asking.context)
    return try wire.reading(.makePasskey) { () throws(VaultError) in
      (try Item(bus: values[0]), try SignedCeremony(bus: values[1]))
    }
  }

  func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ asking: Asking) async throws(VaultError)
    -> [SignedCeremony]
  {
    try await wire.make(
      .assertPasskeys, [ids.busValue, assertion.busValue, try assertion.busSecrets, asking.busValue],
      in: asking.context)
  }

  /// An item's secret in a memory file. Throws for a secret that is too long for any vault.
  private static func sealed(_ secret: borrowing SecretBytes) throws(VaultError) -> BusValue {
    guard secret.count <= NewItem.secretLimit else { throw .secretTooLong(limit: NewItem.secretLimit) }
    return try secret.sealed()
  }

  // MARK: Other machines

  var sync: any SyncService { RemoteSync(wire: wire) }

  // MARK: Authentication

  func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]? {
    let values = try await wire.call(.evaluate, [proof.busValue, asking.busValue], in: asking.context)
    return try wire.reading(.evaluate) { () throws(VaultError) in try Octets.optional(bus: values[0])?.bytes }
  }

  func biometry() async throws(VaultError) -> Biometry { try await wire.make(.biometry) }

  func presentSets() async throws(VaultError) -> [SetStatus] { try await wire.make(.presentSets) }

  // MARK: Fingers

  func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await wire.make(.enroll, [finger.busValue, asking.busValue], in: asking.context)
  }

  func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange {
    let name = BusValue.string(finger?.rawValue ?? "")
    return try await wire.make(.unenroll, [name, asking.busValue], in: asking.context)
  }

  func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] {
    try await wire.make(.losses, [change.busValue])
  }

  // MARK: Passcode and recovery

  func unlock(_ asking: Asking) async throws(VaultError) {
    _ = try await wire.call(.unlock, [asking.busValue], in: asking.context)
  }

  func lock() async throws(VaultError) { _ = try await wire.call(.lock) }

  func changePasscode(_ asking: Asking) async throws(VaultError) {
    _ = try await wire.call(.changePasscode, [asking.busValue], in: asking.context)
  }

  func reseal(to registers: [UInt8], _ asking: Asking) async throws(VaultError) {
    _ = try await wire.call(.reseal, [.bytes(registers), asking.busValue], in: asking.context)
  }

  func setFirstUnlock(_ rule: FirstUnlock, _ asking: Asking) async throws(VaultError) {
    _ = try await wire.call(.setFirstUnlock, [rule.busValue, asking.busValue], in: asking.context)
  }

  func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await wire.make(.removePasscode, [asking.busValue], in: asking.context)
  }

  func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await wire.make(.recover, [DetectedRestore.ID.argument(restore), asking.busValue], in: asking.context)
  }

  func draftRecoveryKey() async throws(VaultError) -> SecretBytes {
    try await wire.secret(.draftRecoveryKey, limit: NewItem.secretLimit)
  }

  func keepRecoveryKey(_ asking: Asking) async throws(VaultError) {
    _ = try await wire.call(.keepRecoveryKey, [asking.busValue], in: asking.context)
  }

  func detectedRestore() async throws(VaultError) -> DetectedRestore? {
    let values = try await wire.call(.detectedRestore)
    return try wire.reading(.detectedRestore) { () throws(VaultError) in
      try [DetectedRestore](bus: values[0]).first
    }
  }

  func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await wire.make(.acceptRestore, [id.busValue, asking.busValue], in: asking.context)
  }

  // MARK: Backups

  func backUp(to file: Int32) async throws(VaultError) { _ = try await wire.call(.backUp, [try .file(file)]) }

  func contents(ofBackup file: Int32) async throws(VaultError) -> BackupContents {
    try await wire.make(.backupContents, [try .file(file)])
  }

  func restore(
    _ file: Int32, accepting id: BackupContents.ID, _ asking: Asking
  ) async throws(VaultError) -> [ItemName] {
    try await wire.make(.restoreBackup, [try .file(file), id.busValue, asking.busValue], in: asking.context)
  }

  // MARK: Readers and state

  func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError) {
    let name = BusValue.string(adapter?.rawValue ?? "")
    _ = try await wire.call(.useAdapter, [name, asking.busValue], in: asking.context)
  }

  func readers() async throws(VaultError) -> ReaderList { try await wire.make(.readers) }

  func status() async throws(VaultError) -> VaultStatus { try await wire.make(.status) }

  func openClasses() async throws(VaultError) -> [Accessibility] { try await wire.make(.openClasses) }

  func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool {
    try await wire.make(.unlockChange, [.boolean(isOpen)])
  }

  func surroundings(otherThan known: Surroundings?) async throws(VaultError) -> Surroundings {
    try await wire.make(.surroundings, [known?.busValue ?? .record([:])])
  }

  func problems() async throws(VaultError) -> [VaultError] { try await wire.make(.problems) }

  func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] {
    try await wire.make(.log, [search.busValue])
  }
}
