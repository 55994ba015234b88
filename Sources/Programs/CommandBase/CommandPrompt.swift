internal import Primitives
internal import Prompts
internal import SecretModel
import SessionPrompts
internal import Settings
import Synchronization
internal import Whorl

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

/// The answers of one command for the terminal prompt. Keeps the first failure to answer.
package final class CommandAnswers: PreparedAnswers {
  /// The item that a wanted application password belongs to.
  package enum Awaiting: Sendable {
    /// An item that exists.
    case stored
    /// An item that is being stored: a mistyped password would lose its secret, so it is asked for twice.
    case new
  }

  private let answers: Answers
  private let awaiting: Awaiting
  private let asker: PromptAsker?
  private let firstFailure = Mutex<Failure?>(nil)
  private let recoveryKeyWasAsked = Atomic(false)

  /// - Parameter asker: the program for which the command asks; nil if it asks for the person who has started it.
  init(_ answers: Answers, _ awaiting: Awaiting, for asker: PromptAsker?) {
    (self.answers, self.awaiting, self.asker) = (answers, awaiting, asker)
  }

  /// The failure of the command, if a question could not be answered.
  var failure: Failure? { firstFailure.withLock { $0 } }

  /// Whether the person was asked to type the recovery key, and so can type it again.
  var hasAskedForRecoveryKey: Bool { recoveryKeyWasAsked.load(ordering: .relaxed) }

  /// Whether somebody may be asked at all.
  var mayAsk: Bool { !answers.noPrompt }

  /// Whether the passcode was given with the command.
  var hasPasscode: Bool { answers.passcode != nil || answers.given != nil }

  /// The style of this command's prompts.
  var style: TerminalPromptStyle {
    var style = TerminalPromptStyle()
    // What a program starts may have its standard error go nowhere.
    style.output = asker != nil && Terminal.exists ? .terminal : .standardError
    style.asker = asker
    style.answers = self
    return style
  }

  func answer(_ request: SecretRequest, unavailable: VaultError?) -> PreparedAnswer {
    do throws(Failure) {
      if let answer = try answers.prepared(request) { return .secret(SharedSecret(answer)) }
    } catch {
      fail(error)
      return .none
    }
    do throws(Failure) {
      try answers.terminal(request)
      if case .recoveryKey = request { recoveryKeyWasAsked.store(true, ordering: .relaxed) }
      return .ask(twice: awaiting == .new)
    } catch {
      // If nobody can be asked for the passcode, report why no finger could be used.
      fail(unavailable.map { Failure($0) } ?? error)
      return .none
    }
  }

  func unanswered(_ reason: Unanswered) {
    // A withdrawn question is not the cause of the failure.
    if case .withdrawn = reason { return }
    fail(Failure(reason))
  }

  private func fail(_ failure: Failure) { firstFailure.withLock { $0 = $0 ?? failure } }
}
