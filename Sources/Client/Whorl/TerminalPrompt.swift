public import SecretModel
internal import Synchronization

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
