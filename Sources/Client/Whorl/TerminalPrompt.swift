package import PromptTexts
public import SecretModel
internal import Synchronization
package import TerminalLines

/// Shows prompts as lines on the controlling terminal and reads secrets there without echo. Esc and Ctrl-D cancel the
/// call, and Enter chooses the fallback where there is one. Without a terminal it shows nothing and answers nothing.
///
/// While a call asks, the terminal's echo and line mode are off. A signal that ends or stops the program restores them
/// first.
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

  /// Ends the dialogue and restores the terminal.
  public func finished(in session: PromptSession) async { dialogues.end(session) }
}

/// The running dialogues, one for each context.
private final class Dialogues: Sendable {
  private let running = Mutex<[ObjectIdentifier: TerminalDialogue]>([:])

  /// The dialogue of a session; nil when its call has ended.
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
    // Another call of the context may already be asking.
    guard !session.isAsking else { return }
    running.withLock { $0.removeValue(forKey: ObjectIdentifier(session.words)) }?.end()
  }
}

/// How a program may configure a terminal prompt.
package struct TerminalPromptStyle: Sendable {
  package enum Output: Sendable {
    /// Lines on the terminal.
    case terminal
    /// Lines on standard error; if that is a terminal, the last line is replaced.
    case standardError
  }

  package var output = Output.terminal
  /// The other program for which this one asks; nil if it asks for itself.
  package var asker: PromptAsker?
  /// Answers that the program has without asking the person.
  package var answers: (any PreparedAnswers)?

  package init() {}
}

/// Answers that a program has without asking the person, such as those read from descriptors.
package protocol PreparedAnswers: Sendable {
  /// The answer to a request. May block. `unavailable` says why the passcode is asked for in place of a finger.
  func answer(_ request: SecretRequest, unavailable: VaultError?) -> PreparedAnswer

  /// Called when the person was asked and did not answer, for a reason other than cancelling.
  func unanswered(_ reason: Unanswered)
}

package enum PreparedAnswer: Sendable {
  case secret(SharedSecret)
  /// Ask the person. Ask twice if a mistyped answer could not be noticed later.
  case ask(twice: Bool)
  /// There is no answer, and nobody may be asked.
  case none
}
