internal import SecretModel
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// What the prompts of all clients share.
final class PromptDesk: Sendable {
  /// A program that can have a grant until this service ends.
  private struct Holder: Hashable {
    private let program: String

    /// Nil for a program whose executable is unknown, which may be any program.
    init?(_ program: ClientProgram) {
      guard program.identity != nil else { return nil }
      self.program = program.program
    }
  }

  private struct Holding: Hashable {
    let item: ItemID
    let holder: Holder
  }

  let turns: PromptTurns
  /// The store of all clients. Each prompt has a context of its own, so that no client uses another one's touch.
  let store: SecretStore
  /// Makes the prompt for a client.
  private let prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
  /// Writes a line for people.
  let log: @Sendable (String) -> Void
  private let sessionGrants = KeptTouches<Holding>()
  /// The programs whose rule is satisfied until this service ends, each with the rule at that time.
  private let grantedPrograms = Mutex<[Holder: AccessControl]>([:])

  init(
    onBus address: String, store: SecretStore,
    prompt: @escaping @Sendable (ClientProgram) -> any AuthenticationPrompt, log: @escaping @Sendable (String) -> Void
  ) {
    turns = PromptTurns(onBus: address)
    (self.store, self.prompt, self.log) = (store, prompt, log)
  }

  /// How a client's program is asked about.
  func inquiry(_ reason: String, _ program: ClientProgram) -> Inquiry {
    var inquiry = Inquiry(reason, prompt: prompt(program))
    inquiry.options.offersFallbackAtOnce = true
    inquiry.repeatsWhereVaultEnds = true
    return inquiry
  }

  /// A program's grant for an item until this service ends; nil if there is none.
  func sessionGrant(_ item: ItemID, _ program: ClientProgram) -> AuthenticationContext? {
    guard let holder = Holder(program) else { return nil }
    return sessionGrants.context(for: Holding(item: item, holder: holder))
  }

  /// Runs a call with a program's grant for an item; nil if there is none that still counts.
  func reuse<Value>(
    _ item: ItemID, _ program: ClientProgram, _ call: (AuthenticationContext) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value? {
    guard let holder = Holder(program) else { return nil }
    return try await sessionGrants.reuse(Holding(item: item, holder: holder), call)
  }

  func keepForSession(_ context: AuthenticationContext, _ item: ItemID, _ program: ClientProgram) {
    guard let holder = Holder(program) else { return }
    sessionGrants.keep(context, for: Holding(item: item, holder: holder), lasting: nil)
  }

  /// Whether the program has satisfied this exact rule of its own until this service ends.
  func isGranted(_ program: ClientProgram, _ rule: AccessControl) -> Bool {
    guard let holder = Holder(program) else { return false }
    return grantedPrograms.withLock { $0[holder] == rule }
  }

  func grant(_ program: ClientProgram, _ rule: AccessControl) {
    guard let holder = Holder(program) else { return }
    grantedPrograms.withLock { $0[holder] = rule }
  }

  /// Removes the grants for one item, or with nil all grants, those of programs included.
  func forget(_ item: ItemID?) {
    if item == nil { grantedPrograms.withLock { $0 = [:] } }
    sessionGrants.forget { item == nil || $0.item == item }
  }
}
