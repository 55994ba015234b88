import SecretModel
import SecureMemory
import Synchronization
import Whorl

/// The answers of one command for the terminal prompt; remembers why one could not be given.
final class CommandAnswers: PreparedAnswers {
  /// What an application password that is asked for belongs to.
  enum Awaiting: Sendable {
    /// An item that exists.
    case stored
    /// An item that is being stored: a mistyped password would lose its secret, so it is asked for twice.
    case new
  }

  private let answers: Answers
  private let awaiting: Awaiting
  private let firstFailure = Mutex<Failure?>(nil)

  init(_ answers: Answers, _ awaiting: Awaiting) { (self.answers, self.awaiting) = (answers, awaiting) }

  /// What the command failed of, where that was an answer.
  var failure: Failure? { firstFailure.withLock { $0 } }

  /// How this command's prompts look.
  var style: TerminalPromptStyle {
    var style = TerminalPromptStyle()
    style.output = .standardError
    style.answers = self
    style.explain = { Failure($0).words }
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
      return .ask(twice: awaiting == .new)
    } catch {
      // With nobody to ask, that no finger could be asked for is the news.
      fail(unavailable.map { Failure($0) } ?? error)
      return .none
    }
  }

  func unanswered(_ reason: Unanswered) {
    // A withdrawn question is not what the command failed of.
    if case .withdrawn = reason { return }
    fail(Failure(reason))
  }

  private func fail(_ failure: Failure) { firstFailure.withLock { $0 = $0 ?? failure } }
}
