/// Counts a context's prompts, and the events for the log.
package struct EventTally: Sendable, Hashable {
  private var prompts: [AuditEntry.Prompt: Int] = [:]
  private var wrongPasscodes = 0
  private var unmatchedTouches = 0
  private var setChanges = 0
  private var rejections = 0

  package init() {}

  package mutating func count(_ event: AuthenticationEvent) {
    switch event {
    case .touchWanted: prompts[.touch, default: 0] += 1
    case .secretWanted(let request): prompts[request.prompt, default: 0] += 1
    case .noMatch: unmatchedTouches += 1
    case .notice(.changedElsewhere): setChanges += 1
    case .notice(.rejected): rejections += 1
    case .fingerPresent, .retry, .matched, .enrolmentStage, .fingerUnavailable, .notice: break
    }
  }

  package mutating func noteWrongPasscode() { wrongPasscodes += 1 }

  /// Fills a log entry with the difference to an earlier tally of the same context.
  package func describe(since earlier: EventTally, in entry: inout AuditEntry) {
    entry.prompts = AuditEntry.Prompt.allCases.filter { prompts[$0, default: 0] > earlier.prompts[$0, default: 0] }
    entry.wrongPasscodes = wrongPasscodes - earlier.wrongPasscodes
    entry.unmatchedTouches = unmatchedTouches - earlier.unmatchedTouches
    if setChanges > earlier.setChanges { entry.isSetChanged = true }
    if rejections > earlier.rejections, entry.outcome == .failed(.cancelled) { entry.outcome = .rejected }
  }
}

extension SecretRequest {
  fileprivate var prompt: AuditEntry.Prompt {
    switch self {
    case .passcode: .passcode
    case .newPasscode: .newPasscode
    case .recoveryKey: .recoveryKey
    case .applicationPassword: .applicationPassword
    }
  }
}
