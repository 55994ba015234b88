import SecretModel
import SessionPrompts
import Synchronization
import Whorl

/// The prompts of one command: lines on standard error, and questions at the terminal. A command without a terminal that
/// runs on a desktop, such as one that a graphical git client has started, also shows a notification, and asks for the
/// passcode with pinentry.
final class CommandPrompt: AuthenticationPrompt {
  private let lines: TerminalPrompt
  private let answers: CommandAnswers
  private let makeDesktop: @Sendable () -> AgentPrompt?
  private let made = Mutex<AgentPrompt?>(nil)

  /// - Parameter desktop: makes the desktop's prompt, which is asked for when a person is. Nil where there is none.
  init(_ answers: CommandAnswers, onDesktop desktop: @escaping @Sendable () -> AgentPrompt?) {
    (lines, self.answers, makeDesktop) = (TerminalPrompt(answers.style), answers, desktop)
  }

  private var desktop: AgentPrompt? {
    made.withLock { made in
      made = made ?? makeDesktop()
      return made
    }
  }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    guard case .secretWanted(let request) = event else {
      await lines.handle(event, in: session)
      await desktop?.handle(event, in: session)
      return
    }
    // Only one of them answers a prompt. The desktop asks for passcodes only.
    if case .passcode = request, !answers.hasPasscode, let desktop {
      await desktop.handle(event, in: session)
    } else {
      await lines.handle(event, in: session)
    }
  }

  func finished(in session: PromptSession) async {
    await lines.finished(in: session)
    await made.withLock { $0 }?.finished(in: session)
  }
}
