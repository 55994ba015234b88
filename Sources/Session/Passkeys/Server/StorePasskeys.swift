internal import Prompts
package import SecretModel
package import SessionPrompts
package import Whorl

/// The passkeys of a store, with prompts in the person's session.
package struct StorePasskeys: PasskeyVault {
  private let store: SecretStore
  /// The access control of new passkeys, and of verifications.
  private let access: AccessControl
  private let turns: PromptTurns
  private let prompt: @Sendable () -> any AuthenticationPrompt

  package init(
    in store: SecretStore, access: AccessControl, turns: PromptTurns,
    prompt: @escaping @Sendable () -> any AuthenticationPrompt
  ) {
    (self.store, self.access, self.turns, self.prompt) = (store, access, turns, prompt)
  }

  package func canAsk() async -> Bool {
    // Programs query a security key often, so check first what can be answered without starting a reader.
    if (try? await readiness())?.hasFinger == true { return true }
    if await store.biometryProblem() == nil { return true }
    // Without a finger, the passcode is asked for if the access control allows it.
    guard access.constraint == .presence, let isSet = try? await store.passcodeIsSet() else { return false }
    return isSet
  }

  package func tries() async -> Int { await store.biometryProblem() == .biometryLockout ? 0 : 5 }

  package func capacity() async throws(VaultError) -> Int {
    try await readiness().capacity
  }

  /// Reads no passkey, and starts no reader.
  private func readiness() async throws(VaultError) -> PasskeyReadiness {
    try await store.call { vault throws(VaultError) in try await vault.passkeyReadiness() }
  }

  package func passkeys(for relyingParty: String?) async throws(VaultError) -> [Passkey] {
    try await store.passkeys(for: relyingParty)
  }

  package func begin(_ words: CeremonyWords) async throws(VaultError) -> any PasskeyCeremony {
    ceremony(words)
  }

  private func ceremony(_ words: CeremonyWords) -> StoreCeremony {
    StoreCeremony(words.text, in: store, access: access, turns: turns, prompt: prompt())
  }

  package func update(_ id: ItemID, user: Passkey.User, _ words: CeremonyWords) async throws(VaultError) {
    let change = ItemChange(attributes: [.account: .text(user.name), .label: .text(user.displayName)])
    try await ceremony(words).run { vault, asking throws(VaultError) in
      _ = try await vault.update(.ids([id]), change, secret: nil, asking)
    }
  }

  package func delete(_ id: ItemID, _ words: CeremonyWords) async throws(VaultError) {
    try await ceremony(words).verify()
    try await store.delete([id])
  }

  package func reset(_ passkeys: [ItemID], _ words: CeremonyWords) async throws(VaultError) {
    try await ceremony(words).verify(try AccessControl([.biometryAny, .devicePasscode, .and]))
    try await store.delete(passkeys)
  }
}

/// One authentication context, for one ceremony.
private struct StoreCeremony: PasskeyCeremony {
  private let reason: String
  private let store: SecretStore
  private let access: AccessControl
  private let turns: PromptTurns
  private let context: AuthenticationContext

  init(
    _ reason: String, in store: SecretStore, access: AccessControl, turns: PromptTurns,
    prompt: any AuthenticationPrompt
  ) {
    (self.reason, self.store, self.access, self.turns) = (reason, store, access, turns)
    context = store.makeContext(prompt: prompt)
    context.options.offersFallbackAtOnce = true
  }

  func verify() async throws(VaultError) { try await verify(access) }

  func verify(_ access: AccessControl) async throws(VaultError) {
    try await run { vault, asking throws(VaultError) in _ = try await vault.evaluate(.access(access), asking) }
  }

  func make(_ passkey: NewPasskey) async throws(VaultError) -> (Passkey, SignedCeremony) {
    var passkey = passkey
    passkey.access = access
    let (item, signed) = try await run { [passkey] vault, asking throws(VaultError) in
      try await vault.makePasskey(passkey, asking)
    }
    guard let made = Passkey(item) else { throw .internalError("a new passkey cannot be read") }
    return (made, signed)
  }

  func assert(_ passkeys: [Passkey], _ assertion: PasskeyAssertion) async throws(VaultError) -> [SignedCeremony] {
    try await run { vault, asking throws(VaultError) in
      try await vault.assertPasskeys(passkeys.map(\.id), assertion, asking)
    }
  }

  func end() async { context.invalidate() }

  /// Runs a call that may prompt, once no other program prompts. Unlocks the store first, if the boot has left it
  /// locked.
  func run<Value: Sendable>(_ request: sending AskingRequest<Value, VaultError>) async throws(VaultError) -> Value {
    let value = try await turns.run(for: "passkeys") { () throws(VaultError) in
      try await Inquiry(reason).unlockIfWaiting(store, in: context)
      return try await context.perform(reason, request)
    }
    guard let value else { throw .cancelled }
    return value
  }
}
