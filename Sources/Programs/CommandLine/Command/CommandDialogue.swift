import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

/// Says at the terminal what a change of the settings does, and asks there what only the person knows, or takes the
/// answers of a script from its descriptors.
struct CommandDialogue: ChangeDialogue {
  private let session: Session
  private let command: String
  /// A script's descriptor with a line for each password.
  private let passwordFd: Int32?
  /// A script's descriptor with the recovery key of a sealed copy.
  private let recoveryFd: Int32?
  private let isQuiet: Bool
  /// Whether an option of the command has answered the questions with yes.
  private let isAssenting: Bool
  private let answers: Answers

  /// - Parameters:
  ///   - command: its name, for what failed meanwhile.
  ///   - isQuiet: whether to say only what even a script is told.
  ///   - isAssenting: whether an option of the command has answered the questions with yes.
  init(
    _ session: Session, of command: String, passwordFd: Int32? = nil, recoveryFd: Int32? = nil, isQuiet: Bool = false,
    isAssenting: Bool = false
  ) {
    self.isAssenting = isAssenting
    (self.session, self.command, self.passwordFd, self.recoveryFd) = (session, command, passwordFd, recoveryFd)
    self.isQuiet = isQuiet || session.options.json
    answers = session.answers(recoveryKey: recoveryFd)
  }

  var context: any SettingsContext { session }

  // MARK: Words

  func tell(_ progress: ChangeProgress) {
    if progress.kind == .problem || !isQuiet { say(progress) }
  }

  /// Says it also to a script, before a question that needs it.
  func say(_ progress: ChangeProgress) {
    if let failure = progress.failure { return StandardError.line(failure.line(command: command)) }
    StandardError.line(Visible.text(progress.words))
    for line in progress.listed.prefix(Self.listed) { StandardError.line("  \(Visible.text(line))") }
    if progress.listed.count > Self.listed {
      StandardError.line("  and \(progress.listed.count - Self.listed) more")
    }
  }

  /// The most things that are listed.
  private static let listed = 20

  func confirm(_ question: String, assent: String) throws(Failure) {
    if isAssenting { return }
    try session.answers().confirm(question, assent: assent)
  }

  // MARK: The store

  nonisolated(nonsending) func asking<Answer: Sendable>(
    _ manner: ChangeAsking, _ request: AskingRequest<Answer, any Error>
  ) async throws(Failure) -> Answer {
    var answers = answers
    if let passcode = manner.passcode {
      if manner.isSilent { answers = .only(passcode) } else { answers.given = passcode }
    }
    answers.newPasscode = manner.newPasscode
    var options = session.contextOptions
    options.keepsEvidence = manner.keepsEvidence
    options.allowsGuessablePasscode = manner.allowsGuessablePasscode
    return try await session.asking(answers, options: options, reason: manner.reason, request)
  }

  func openIfWaiting(to purpose: String) async throws(Failure) {
    try await session.openIfWaiting(answers, to: purpose)
  }

  func passcode() throws(Failure) -> SharedSecret { SharedSecret(try answers.answer(.passcode(attempt: 1))) }

  // MARK: Passwords

  var isScripted: Bool { passwordFd != nil }
  var canAskForPasswords: Bool { isScripted || Terminal.exists }

  func password(_ what: String, isOptional: Bool) throws(Failure) -> SharedSecret {
    if let passwordFd { return SharedSecret(try answers.line(of: passwordFd, what)) }
    let question = "The \(what)\(isOptional ? " (Enter leaves it out)" : "")"
    return try Answers.typed("the \(what)", or: "--password-fd") { terminal throws(Unanswered) in
      try terminal.readSecret(question)
    }
  }

  func newPassword(_ what: String) throws(Failure) -> SharedSecret {
    if let passwordFd { return SharedSecret(try answers.line(of: passwordFd, what)) }
    return try Answers.typed("the \(what)", or: "--password-fd") { terminal throws(Unanswered) in
      try terminal.readNewSecret(what)
    }
  }

  // MARK: Sealed copies

  var canOpenCopies: Bool { recoveryFd != nil || answers.passcode != nil || Terminal.exists }

  /// A mistyped recovery key can be typed again.
  func secret(in copy: SealedCopy) async throws(Failure) -> SharedSecret {
    try await secret(in: copy, isByRecoveryKey: recoveryFd != nil || copy.keys == .recoveryKey, answers)
  }

  private func secret(
    in copy: SealedCopy, isByRecoveryKey: Bool, _ answers: Answers
  ) async throws(Failure) -> SharedSecret {
    try await answers.withRetypedRecoveryKey { () async throws(Failure) in
      let answer = SharedSecret(try answers.answer(isByRecoveryKey ? .recoveryKey : .passcode(attempt: 1)))
      return try await secret(in: copy, opened: answer, isByRecoveryKey: isByRecoveryKey)
    }
  }

  private func secret(
    in copy: SealedCopy, opened answer: SharedSecret, isByRecoveryKey: Bool
  ) async throws(Failure) -> SharedSecret {
    try await session.withPrivateVault { vault throws(Failure) in
      try await session.explained { () async throws(VaultError) in
        let opening: SealedCopy.Opening =
          if isByRecoveryKey { .recoveryKey(answer.copy()) } else { .passcode(answer.copy()) }
        return SharedSecret(try await vault.openCopy(copy, with: opening))
      }
    }
  }

  func trial(of copy: SealedCopy, knowing passcode: SharedSecret?) async throws(Failure) -> SharedSecret? {
    guard copy.keys == .recoveryKey, recoveryFd == nil, let terminal = Terminal() else {
      var answers = answers
      answers.given = passcode
      return try await secret(in: copy, isByRecoveryKey: copy.keys == .recoveryKey, answers)
    }
    tell(
      .hint(
        "Type the recovery key: it opens the keyring if the store is ever lost, and is tried before anything is changed."
      ))
    tell(.hint("If you do not have it at hand, press Enter: then it is not tried."))
    while true {
      let key: SharedSecret
      do throws(Unanswered) {
        key = SharedSecret(try terminal.readSecret("Recovery key", display: .onRequest))
      } catch {
        throw Failure(error)
      }
      guard !key.bytes.isEmpty else { return nil }
      do throws(Failure) {
        return try await secret(in: copy, opened: key, isByRecoveryKey: true)
      } catch  where error.isMistypedRecoveryKey {
        error.tellToRetype(enter: "to go on without trying it")
      }
    }
  }
}
