public import SecretModel
internal import Synchronization

/// Shows prompts as lines on the controlling terminal and reads secrets there, unseen. Esc and Ctrl-D cancel the call that
/// asks, and Enter chooses the fallback where there is one. Without a terminal nothing is shown and no secret is given.
///
/// While a call asks, the terminal sends single keys and does not show them. A signal that ends or stops the program puts
/// it back as it was first.
public struct TerminalPrompt: AuthenticationPrompt {
  private let style: TerminalPromptStyle
  private let dialogues = Dialogues()

  /// A prompt on the terminal the program was started from.
  public init() { self.init(TerminalPromptStyle()) }

  package init(_ style: TerminalPromptStyle) { self.style = style }

  /// Shows the event, or asks for the secret.
  public func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    await dialogues.of(session, style)?.handle(event, in: session)
  }

  /// Asks for nothing any more, and gives the terminal back.
  public func finished(in session: PromptSession) async { dialogues.end(session) }
}

/// What a program may choose of a terminal prompt.
package struct TerminalPromptStyle: Sendable {
  package enum Output: Sendable {
    /// Lines on the terminal.
    case terminal
    /// Standard error, where the last line changes if it is a terminal.
    case standardError
  }

  package var output = Output.terminal
  /// Answers the program has without asking the person.
  package var answers: (any PreparedAnswers)?
  /// What went wrong, in words; for the reason why a passcode is asked for in place of a finger.
  package var explain: @Sendable (VaultError) -> String = { _ in "No finger can be used now." }

  package init() {}
}

/// Answers that a program has without asking the person, such as those on descriptors it was given.
package protocol PreparedAnswers: Sendable {
  /// May block. `unavailable` is why no finger can be used, where the passcode takes its place.
  func answer(_ request: SecretRequest, unavailable: VaultError?) -> PreparedAnswer

  /// The person was asked and gave no answer, for another reason than a cancel.
  func unanswered(_ reason: Unanswered)
}

package enum PreparedAnswer: Sendable {
  case secret(SharedSecret)
  /// The person is to be asked: twice, where a mistyped answer could not be noticed later.
  case ask(twice: Bool)
  /// There is none, and nobody may be asked.
  case none
}

/// The dialogues that go on, each with one context.
private final class Dialogues: Sendable {
  private let running = Mutex<[ObjectIdentifier: TerminalDialogue]>([:])

  /// Nil once the call that asks has ended.
  func of(_ session: PromptSession, _ style: TerminalPromptStyle) -> TerminalDialogue? {
    running.withLock { running in
      let key = ObjectIdentifier(session.words)
      if let dialogue = running[key] { return dialogue }
      guard session.isAsking else { return nil }
      let dialogue = TerminalDialogue(session, style)
      running[key] = dialogue
      return dialogue
    }
  }

  func end(_ session: PromptSession) {
    // Another call of the context may be asking already.
    guard !session.isAsking else { return }
    running.withLock { $0.removeValue(forKey: ObjectIdentifier(session.words)) }?.end()
  }
}
