internal import Moving
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Settings
internal import Synchronization
internal import Whorl

/// Asks in the window what only the person knows while the settings are changed, and keeps what the change says for its
/// report.
nonisolated final class WindowDialogue: ChangeDialogue {
  let context: any SettingsContext
  private let shown: ShownStore
  private let said = Mutex<[ChangeProgress]>([])
  /// How many of ``said`` a question has shown already.
  private let shownBefore = Mutex(0)

  init(_ context: WindowSettings, _ shown: ShownStore) { (self.context, self.shown) = (context, shown) }

  /// What the change has said that no question has shown.
  var report: [String] { untold() }

  func tell(_ progress: ChangeProgress) { said.withLock { $0.append(progress) } }

  private func untold() -> [String] {
    let all = said.withLock { $0 }
    let new = shownBefore.withLock { count in
      defer { count = all.count }
      return all.dropFirst(count)
    }
    return new.flatMap { [Visible.text($0.words)] + $0.listed.map(Visible.text) }
  }

  nonisolated(nonsending) func confirm(_ question: String, assent: String) async throws(Failure) {
    let told = untold().joined(separator: "\n")
    guard await Question.isAgreed(Visible.text(question), told, over: shown.window) else { throw .cancelled }
  }

  /// Names what would be lost for good, and throws unless the person types the word for that. Asks nothing if that is nothing.
  ///
  /// - Parameter words: where these are, and nowhere else.
  nonisolated(nonsending) func agree(toLose copies: OnlyCopies, _ words: String) async throws(Failure) {
    guard !copies.isEmpty else { return }
    let names = copies.copies.map { Visible.text([$0.name, $0.note].compactMap(\.self).joined(separator: ": ")) }
    let question = ([words] + names).joined(separator: "\n")
    guard await Question.isWordTyped(OnlyCopies.word, question, over: shown.window) else { throw .cancelled }
  }

  // MARK: The store

  nonisolated(nonsending) func asking<Answer: Sendable>(
    _ manner: ChangeAsking, _ request: AskingRequest<Answer, any Error>
  ) async throws(Failure) -> Answer {
    let store = try await context.openStore()
    let given = GivenAnswers(manner, person: manner.isSilent ? nil : await shown.prompt)
    let asking = store.makeContext(prompt: given)
    asking.options.offersFallbackAtOnce = true
    asking.options.keepsEvidence = manner.keepsEvidence
    asking.options.allowsGuessablePasscode = manner.allowsGuessablePasscode
    defer { asking.invalidate() }
    do throws(Failure) {
      return try await asking.perform(manner.reason) { vault, asking throws(Failure) in
        do { return try await request(vault, asking) } catch { throw context.explained(error) }
      }
    } catch {
      throw given.isRefused ? Failure(.wrongPasscode) : error
    }
  }

  nonisolated(nonsending) func openIfWaiting(to purpose: String) async throws(Failure) {
    let store = try await context.openStore()
    let isWaiting = try await context.explained { () async throws(VaultError) in try await store.awaitsFirstUnlock() }
    guard isWaiting else { return }
    let context = store.makeContext(prompt: await shown.prompt)
    defer { context.invalidate() }
    try await self.context.explained { () async throws(VaultError) in
      try await store.unlock(reason: purpose, using: context)
    }
  }

  nonisolated(nonsending) func passcode() async throws(Failure) -> SharedSecret {
    try await typed(Text.of("Passcode"))
  }

  // MARK: Passwords

  let isScripted = false
  let canAskForPasswords = true

  nonisolated(nonsending) func password(_ what: String, isOptional: Bool) async throws(Failure) -> SharedSecret {
    try await typed(Text.of("The {password}", ["password": what]), isOptional: isOptional)
  }

  nonisolated(nonsending) func newPassword(_ what: String) async throws(Failure) -> SharedSecret {
    try await typed(Text.of("The new {password}", ["password": what]), isNew: true)
  }

  private nonisolated(nonsending) func typed(
    _ what: String, isNew: Bool = false, isOptional: Bool = false
  ) async throws(Failure) -> SharedSecret {
    let told = untold().joined(separator: "\n")
    guard let answer = await shown.typed(what, told: told, isNew: isNew, isOptional: isOptional) else {
      throw .cancelled
    }
    return answer
  }

  // MARK: Sealed copies

  let canOpenCopies = true

  nonisolated(nonsending) func secret(in copy: SealedCopy) async throws(Failure) -> SharedSecret {
    try await secret(in: copy, answer: try await typed(Self.name(copy)))
  }

  nonisolated(nonsending) func trial(
    of copy: SealedCopy, knowing passcode: SharedSecret?
  ) async throws(Failure) -> SharedSecret? {
    if let passcode, copy.keys != .recoveryKey { return try await secret(in: copy, answer: passcode) }
    while true {
      let words = Text.of(
        "It opens the keyring if the store is ever lost, and is tried before anything is changed. If you do not have it at hand, leave this empty."
      )
      tell(.hint(words))
      let answer = try await typed(Self.name(copy), isOptional: copy.keys == .recoveryKey)
      guard !answer.bytes.isEmpty else { return nil }
      do throws(Failure) {
        return try await secret(in: copy, answer: answer)
      } catch  where [.wrongRecoveryKey, .malformedRecoveryKey].contains(error.cause) {
        tell(.failed(error))
      }
    }
  }

  private nonisolated(nonsending) func secret(
    in copy: SealedCopy, answer: SharedSecret
  ) async throws(Failure) -> SharedSecret {
    let context = context
    return try await context.withPrivateVault { vault throws(Failure) in
      try await context.explained { () async throws(VaultError) in
        let opening: SealedCopy.Opening =
          copy.keys == .recoveryKey ? .recoveryKey(answer.bytes.copy()) : .passcode(answer.bytes.copy())
        return SharedSecret(try await vault.openCopy(copy, with: opening))
      }
    }
  }

  private static func name(_ copy: SealedCopy) -> String {
    copy.keys == .recoveryKey ? Text.of("Recovery key") : Text.of("Passcode")
  }
}

/// Answers the vault with the passcodes that a change knows already, and asks the person for the rest, if anybody may be
/// asked.
private nonisolated final class GivenAnswers: AuthenticationPrompt {
  private let manner: ChangeAsking
  private let person: (any AuthenticationPrompt)?
  private let wasRefused = Atomic(false)

  /// - Parameter person: asks the person; nil: nobody is asked.
  init(_ manner: ChangeAsking, person: (any AuthenticationPrompt)?) { (self.manner, self.person) = (manner, person) }

  /// Whether nobody could be asked for more than the given passcode.
  var isRefused: Bool { wasRefused.load(ordering: .relaxed) }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    if case .secretWanted(let request) = event, let answer = answer(to: request) {
      return await session.answer(answer.copy())
    }
    if let person { return await person.handle(event, in: session) }
    guard event.isQuestion else { return }
    wasRefused.store(true, ordering: .relaxed)
    await session.cancel()
  }

  private func answer(to request: SecretRequest) -> SharedSecret? {
    switch request {
    case .passcode(attempt: 1): manner.passcode
    case .newPasscode: manner.newPasscode
    default: nil
    }
  }

  func finished(in session: PromptSession) async { await person?.finished(in: session) }
}
