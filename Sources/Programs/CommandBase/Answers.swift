import Glibc
package import Primitives
package import Prompts
package import SecretModel
package import Settings

/// Answers the vault's questions from a script's descriptors, or else from the person at the terminal.
package struct Answers: Sendable {
  package var passcode: Int32?
  package var recoveryKey: Int32?
  package var applicationPassword: Int32?
  /// A passcode or recovery key that was entered before the vault asked for it.
  package var given: SharedSecret?
  /// A new passcode that the command has already.
  package var newPasscode: SharedSecret?
  /// Whether prompts are not allowed.
  package var noPrompt = false

  package init(
    passcode: Int32? = nil, recoveryKey: Int32? = nil, applicationPassword: Int32? = nil, given: SharedSecret? = nil,
    newPasscode: SharedSecret? = nil, noPrompt: Bool = false
  ) {
    (self.passcode, self.recoveryKey, self.applicationPassword) = (passcode, recoveryKey, applicationPassword)
    (self.given, self.newPasscode, self.noPrompt) = (given, newPasscode, noPrompt)
  }

  /// One passcode to try, without prompts for another one.
  package static func only(_ passcode: SharedSecret) -> Answers { Answers(given: passcode, noPrompt: true) }

  /// Answers one question.
  package func answer(_ request: SecretRequest) throws(Failure) -> SecretBytes {
    if let answer = try prepared(request) { return answer }
    let terminal = try terminal(request)
    do {
      switch request {
      case .newPasscode: return try terminal.readNewSecret("passcode")
      case .recoveryKey: return try terminal.readRecoveryKey(PromptText.question(request))
      case .passcode, .applicationPassword: return try terminal.readSecret(PromptText.question(request))
      }
    } catch {
      throw Failure(error)
    }
  }

  /// The answer from a descriptor or given before; nil if the person must be asked.
  package func prepared(_ request: SecretRequest) throws(Failure) -> SecretBytes? {
    switch request {
    case .passcode(let attempt):
      if attempt == 1, let given { return given.copy() }
      guard let passcode else {
        if noPrompt, given != nil { throw Failure(.wrongPasscode) }
        return nil
      }
      // Do not read a second passcode from a script: the next line is the new passcode.
      guard attempt == 1 else { throw Failure(.wrongPasscode) }
      return try line(of: passcode, "passcode")
    case .newPasscode:
      if let newPasscode { return newPasscode.copy() }
      return try passcode.map { descriptor throws(Failure) in try line(of: descriptor, "new passcode") }
    case .recoveryKey:
      if let given { return given.copy() }
      return try recoveryKey.map { descriptor throws(Failure) in try line(of: descriptor, "recovery key") }
    case .applicationPassword:
      return try applicationPassword.map { descriptor throws(Failure) in
        try line(of: descriptor, "application password")
      }
    }
  }

  /// Whether a person types the recovery key at the terminal, and so can type it again.
  private var isRecoveryKeyTyped: Bool { given == nil && recoveryKey == nil && !noPrompt && Terminal.exists }

  /// Runs a body that needs a recovery key, and again as long as the person mistypes it. A recovery key is too long to
  /// guess, so there is no limit; Enter alone and Esc end it.
  package func withRetypedRecoveryKey<Answer>(
    _ body: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    while true {
      do throws(Failure) {
        return try await body()
      } catch  where isRecoveryKeyTyped && error.isMistypedRecoveryKey {
        error.tellToRetype()
      }
    }
  }

  /// The terminal for prompts. Throws if nobody can be asked.
  @discardableResult
  package func terminal(_ request: SecretRequest) throws(Failure) -> Terminal {
    if !noPrompt, let terminal = Terminal() { return terminal }
    let (what, option) =
      switch request {
      case .passcode: ("the passcode", "--passcode-fd")
      case .newPasscode: ("a new passcode", "--passcode-fd")
      case .recoveryKey: ("the recovery key", "--recovery-fd")
      case .applicationPassword(let name): ("the application password of \(name)", "--app-password-fd")
      }
    throw .interactionNotAllowed(
      "\(what) is needed and there is no terminal to ask at", advice: "give it with \(option)")
  }

  /// Asks for a confirmation.
  ///
  /// - Parameters:
  ///   - assent: the option that gives it in advance.
  ///   - refusal: the failure after a no.
  package func confirm(_ question: String, assent: String, otherwise refusal: Failure = .cancelled) throws(Failure) {
    guard !noPrompt, let terminal = Terminal() else {
      throw .interactionNotAllowed(
        "this has to be confirmed, and nobody can be asked", advice: "confirm it with \(assent)")
    }
    let isConfirmed: Bool
    do { isConfirmed = try terminal.confirm(question) } catch { throw Failure(error) }
    guard isConfirmed else { throw refusal }
  }

  /// Has a person type something that is no answer to the vault.
  ///
  /// - Parameter option: what gives it where there is no terminal.
  package static func typed(
    _ what: String, or option: String, _ read: (Terminal) throws(Unanswered) -> SecretBytes
  ) throws(Failure) -> SharedSecret {
    guard let terminal = Terminal() else {
      throw .interactionNotAllowed(
        "\(what) is needed and there is no terminal to ask at", advice: "give it with \(option)")
    }
    do { return SharedSecret(try read(terminal)) } catch { throw Failure(error) }
  }

  /// Reads the next line of a script's descriptor as an answer.
  package func line(of descriptor: Int32, _ what: String) throws(Failure) -> SecretBytes {
    do {
      return try SecretBytes.readLine(from: descriptor, limit: Terminal.answerLimit)
    } catch {
      switch error {
      case .tooLong(let limit):
        throw .usage(
          "the \(what) on descriptor \(descriptor) is longer than \(limit) bytes",
          advice: "write it alone on its line")
      case .endOfInput:
        throw .usage(
          "descriptor \(descriptor) has no line for the \(what)", advice: "write one line for each that is asked")
      case .system(let code):
        throw .cannotRead("the \(what) from descriptor \(descriptor)", code)
      }
    }
  }
}

extension Failure {
  /// Whether the recovery key was another one, or no recovery key.
  package var isMistypedRecoveryKey: Bool { [.wrongRecoveryKey, .malformedRecoveryKey].contains(cause) }

  /// Asks a person at the terminal to type the recovery key again.
  ///
  /// - Parameter enter: what Enter alone does then.
  package func tellToRetype(enter: String = "to stop") {
    let sentence = what.prefix(1).uppercased() + what.dropFirst()
    StandardError.line(Visible.text("\(sentence). Type it again, or press Enter alone \(enter)."))
  }

  /// The failure for a question that was not answered at the terminal.
  package init(_ reason: Unanswered) {
    switch reason {
    case .cancelled, .withdrawn: self = .cancelled
    case .differed:
      self.init(.usage, "the two entries differed three times", name: "errSecParam", advice: "try again")
    case .noTerminal: self = .cannotRead("from the terminal", EIO)
    }
  }
}
