internal import SecretModel
internal import SessionPrompts
internal import Synchronization
internal import Whorl

/// What all clients' prompts have in common.
final class PromptDesk: Sendable {
  private struct Holder: Hashable {
    let item: ItemID
    /// ``ClientProgram/program``.
    let program: String
  }

  let turns = PromptTurns()
  /// Opens the store, once for each client that reads what is gated.
  let openStore: @Sendable () throws(VaultError) -> SecretStore
  /// Makes the prompt for a client.
  let prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
  /// Writes a line for people.
  let log: @Sendable (String) -> Void
  private let sessionGrants = Mutex<[Holder: AuthenticationContext]>([:])
  /// The programs (``ClientProgram/program``) that were granted what they read, with the rule of theirs that was met.
  private let grantedPrograms = Mutex<[String: AccessControl]>([:])

  init(
    openStore: @escaping @Sendable () throws(VaultError) -> SecretStore,
    prompt: @escaping @Sendable (ClientProgram) -> any AuthenticationPrompt, log: @escaping @Sendable (String) -> Void
  ) {
    (self.openStore, self.prompt, self.log) = (openStore, prompt, log)
  }

  /// What a prompt says, with the name of the program, which is this agent's word.
  func reason(_ what: String, for program: ClientProgram) -> String {
    "\(what) (asked by \(program.words), says whorl-agent)"
  }

  /// What a program was granted for as long as this service runs.
  func sessionGrant(_ item: ItemID, _ program: ClientProgram) -> AuthenticationContext? {
    guard program.path != nil else { return nil }
    return sessionGrants.withLock { $0[Holder(item: item, program: program.program)] }
  }

  func keepForSession(_ context: AuthenticationContext, _ item: ItemID, _ program: ClientProgram) {
    guard program.path != nil else { return }
    sessionGrants.withLock { $0[Holder(item: item, program: program.program)] = context }
  }

  /// Whether a program with this rule of its own was granted what it reads for as long as this service runs.
  func isGranted(_ program: ClientProgram, _ rule: AccessControl) -> Bool {
    guard program.path != nil else { return false }
    return grantedPrograms.withLock { $0[program.program] == rule }
  }

  func grant(_ program: ClientProgram, _ rule: AccessControl) {
    guard program.path != nil else { return }
    grantedPrograms.withLock { $0[program.program] = rule }
  }

  /// Forgets what was granted for as long as this service runs, for an item, or for all items and programs.
  func forget(_ item: ItemID?) {
    if item == nil { grantedPrograms.withLock { $0 = [:] } }
    sessionGrants.withLock { grants in
      guard let item else { return grants = [:] }
      grants = grants.filter { $0.key.item != item }
    }
  }
}
