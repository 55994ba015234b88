import Primitives
internal import Prompts
import SecretModel
import Settings
import Synchronization

extension FprintdFingers {
  /// Enrols a finger. fprintd asks for the login password first, unless it was given recently in this session.
  func enroll(_ finger: Finger, on chosen: ReaderDescription) async throws(Failure) {
    let line = Line()
    try await changing { () async throws(Failure) in
      try await opened(chosen.id) { reader, description throws(ReaderError) in
        let request = TouchRequest(purpose: .enroll(finger), reader: description, passcodeInstead: false)
        _ = try await reader.enroll(as: finger) { line.show($0, asking: request) }
      }
    }
    line.finish()
  }

  /// Deletes a finger, or with nil all of them. Does nothing for one that fprintd does not have.
  func delete(_ finger: Finger?, on chosen: ReaderDescription) async throws(Failure) {
    try await changing { () async throws(Failure) in
      try await opened(chosen.id) { reader, _ throws(ReaderError) in
        let templates = try await reader.storedPrints(knowing: []).unknown
        for template in templates where finger == nil || FprintdPrint(template)?.finger == finger {
          do throws(ReaderError) {
            try await reader.delete(template)
          } catch {
            guard error == .deletesOnlyAllFingers, finger == nil else { throw error }
            return try await reader.clearStorage()
          }
        }
      }
    }
  }

  /// Runs a change of the fingers. Says before it that a password will be asked for, and which one, where the dialogue does
  /// not; and after it, that this was not given.
  private func changing(_ change: () async throws(Failure) -> Void) async throws(Failure) {
    let isAsked = EnrolmentPermission.ofThisProgram() == .withPassword
    if isAsked {
      StandardError.line(
        "The system asks for your login password, so that nobody else changes the fingers of its logins.")
    }
    do {
      try await PasswordAgent.during(change)
    } catch {
      // fprintd gives the same error for a wrong password as for a session that may not do this at all.
      guard isAsked, case .reader(.fprintdRefused)? = error.cause else { throw error }
      throw Failure(
        .refused, "the system was not given your login password", name: "LAError.userCancel",
        advice: "run it again, and type the password that you log in with")
    }
  }
}

/// The line with instructions during an enrolment.
private final class Line: Sendable {
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
