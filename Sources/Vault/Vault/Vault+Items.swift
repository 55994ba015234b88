import Executors
package import Presence
package import SecureMemory
import VaultItems
import VaultStore

/// The calls about items, which ``VaultService`` describes. Each asks the person, in the context of its request, for what
/// the items require.
extension Vault {
  package func items(_ search: ItemSearch, _ request: Request) throws(VaultError) -> ItemPage {
    try catalogue.page(search, try presence.contexts.context(of: request))
  }

  package func secrets(_ selection: ItemSelection, _ request: Request) async throws(VaultError) -> [ReleasedItem] {
    let context = try presence.contexts.context(of: request)
    await sessionLock.follow()
    switch try catalogue.find(selection, context) {
    case .released(let items): return items
    case .protected(let wanted):
      let turn = try await presence.contexts.turn(of: request)
      let evidence = try await presence.authorizer.evidence(
        for: wanted.map(\.need), reason: request.asking.reason, turn.context)
      return try await catalogue.release(wanted, evidence)
    }
  }

  package func secrets(of ids: [ItemID], upTo size: Int, _ request: Request) async throws(VaultError)
    -> [ReleasedItem]
  {
    try await secrets(.ids(try catalogue.first(of: ids, upTo: size)), request)
  }

  package func add(_ items: [ItemToAdd]) async throws(VaultError) -> [Result<ItemID, VaultError>] {
    await sessionLock.follow()
    return try await catalogue.add(items)
  }

  package func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ request: Request)
    async throws(VaultError) -> Item
  {
    guard secret.count <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let secret = SharedSecret(secret)
    await sessionLock.follow()
    return try await catalogue.add(item, secret: secret, replacing: replacing) { name throws(VaultError) in
      if let password = try self.presence.contexts.context(of: request)?.applicationPassword { return password }
      let turn = try await self.presence.contexts.turn(of: request)
      return try await self.presence.authorizer.newPassword(for: name, turn.context)
    }
  }

  package func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ request: Request
  ) async throws(VaultError) -> Int {
    guard (secret?.count ?? 0) <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let fresh: SharedSecret? = if let secret { SharedSecret(secret) } else { nil }
    let context = try presence.contexts.context(of: request)
    await sessionLock.follow()
    let wanted = try catalogue.toChange(selection, context)
    guard !wanted.isEmpty else { return 0 }
    let protection = try await catalogue.protection(after: change, context)
    if wanted.allSatisfy(\.isOpen) {
      try await catalogue.rewrite(wanted, Evidence(), change, secret: fresh, protection)
    } else {
      let turn = try await presence.contexts.turn(of: request)
      let evidence = try await presence.authorizer.evidence(
        for: wanted.map(\.need), reason: request.asking.reason, turn.context)
      try await catalogue.rewrite(wanted, evidence, change, secret: fresh, protection)
    }
    store.database.forgetOldPages()
    return wanted.count
  }

  package func delete(_ selection: ItemSelection) throws(VaultError) -> Int {
    let count = try catalogue.delete(selection)
    if count > 0 { forgetSoon() }
    return count
  }

  package func useKey(_ id: ItemID, _ use: KeyUse, _ request: Request) async throws(VaultError) -> SecretBytes {
    await sessionLock.follow()
    let (wanted, family) = try catalogue.key(id, for: use)
    guard !wanted.allSatisfy(\.isOpen) else { return try await catalogue.use(wanted, Evidence(), family, use) }
    let turn = try await presence.contexts.turn(of: request)
    let evidence = try await presence.authorizer.evidence(
      for: wanted.map(\.need), reason: request.asking.reason, turn.context)
    return try await catalogue.use(wanted, evidence, family, use)
  }

  package func passkeyReadiness() throws(VaultError) -> PasskeyReadiness { try catalogue.passkeyReadiness() }

  package func makePasskey(_ passkey: NewPasskey, _ request: Request) async throws(VaultError) -> (
    Item, SignedCeremony
  ) { try await ceremonies.make(passkey, request) }

  package func assertPasskeys(_ ids: [ItemID], _ assertion: PasskeyAssertion, _ request: Request)
    async throws(VaultError) -> [SignedCeremony]
  { try await ceremonies.assert(ids, assertion, request) }

  private var ceremonies: AskedCeremonies {
    AskedCeremonies(presence: presence, catalogue: catalogue, sessionLock: sessionLock)
  }

  func sealCopy(
    of secret: consuming SecretBytes, under keys: SealedCopy.Keys, replacing old: SealedCopy?, _ request: Request
  ) async throws(VaultError) -> SealedCopy {
    try await CopySealer(presence: presence).seal(secret, under: keys, replacing: old, request)
  }

  package func evaluate(_ proof: Proof, _ request: Request) async throws(VaultError) -> [UInt8]? {
    var digest: [UInt8]?
    do {
      let turn = try await presence.contexts.turn(of: request)
      digest = try await presence.authorizer.evaluate(proof, reason: request.asking.reason, turn.context)
    }
    // The evaluation has succeeded, even if the reader's state cannot be read now.
    if digest == nil { digest = try? await presence.fingers.biometry(for: itself.caller).state }
    return digest
  }

  /// Empties the write-ahead log a moment later, once for many changes, without making the caller wait.
  private func forgetSoon() {
    guard forgetting == nil else { return }
    forgetting = Task(executorPreference: BackgroundThread.shared) {
      try? await Pause.wait(for: .seconds(1))
      await self.forget()
    }
  }

  private func forget() {
    forgetting = nil
    store.database.forgetOldPages()
  }
}
