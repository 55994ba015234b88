import CommandBase
import Primitives
internal import Prompts
import SecretModel
import Settings
import Synchronization

extension FprintdChange {
  /// Runs the change. Says before it that a password will be asked for, and which one, where the dialogue does not.
  func withPasswordAgent(_ change: () async throws(Failure) -> Void) async throws(Failure) {
    if asksForPassword {
      StandardError.line(
        "The system asks for your login password, so that nobody else changes the fingers of its logins.")
    }
    try await PasswordAgent.during(change)
  }
}

/// The line with instructions during an enrolment in fprintd.
final class EnrolmentLine: Sendable {
  private struct State: ~Copyable {
    var line = ProgressLine.onStandardError()
    var isAsked = false
  }

  private let state = Mutex(State())

  func show(_ event: ScanEvent, asking request: TouchRequest) {
    state.withLock { state in
      switch event {
      // The first event comes after fprintd's password prompt, which may need the terminal.
      case .fingerNeeded where !state.isAsked:
        state.isAsked = true
        state.line.show(PromptText.touch(request, keys: nil))
      case .stage(let completed, let count): state.line.tell(PromptText.stage(completed: completed, of: count))
      case .retry(let reason): state.line.tell(PromptText.retry(reason))
      case .fingerNeeded, .fingerPossible, .fingerPresent, .fingerLifted: break
      }
    }
  }

  func finish() { state.withLock { $0.line.finish() } }
}
