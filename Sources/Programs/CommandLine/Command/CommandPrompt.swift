import SecretModel
import SessionPrompts
import Whorl

/// The prompts of one command: lines on standard error, and questions at the terminal. A command without a terminal that
/// runs on a desktop, such as one that a graphical git client has started, also shows a notification, and asks for the
/// passcode with pinentry.
struct CommandPrompt: AuthenticationPrompt {
  private let lines: TerminalPrompt
  private let answers: CommandAnswers
  private let desktop: AgentPrompt?

  init(_ answers: CommandAnswers, on desktop: AgentPrompt?) {
    (lines, self.answers, self.desktop) = (TerminalPrompt(answers.style), answers, desktop)
  }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    guard case .secretWanted(let request) = event else {
      await lines.handle(event, in: session)
      await desktop?.handle(event, in: session)
      return
    }
    // Only one of them answers a prompt. The desktop asks for passcodes only.
    if let desktop, case .passcode = request, !answers.hasPasscode {
      await desktop.handle(event, in: session)
    } else {
      await lines.handle(event, in: session)
    }
  }

  func finished(in session: PromptSession) async {
    await lines.finished(in: session)
    await desktop?.finished(in: session)
  }
}
