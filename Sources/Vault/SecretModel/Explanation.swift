/// What an error means to a person, and what to do about it, without technical names. Those are in ``detail``.
package struct Explanation: Sendable, Hashable {
  /// What happened, as the words after "whorl: ".
  package var what: String
  /// What to do next, as the words after a colon.
  package var advice: String
  /// What to do if that does not help, as further words. `whorl doctor` leaves it out, since it is what they name.
  package var further: String?
  /// The technical details of the cause (`--verbose`, `--json`).
  package var detail: String?

  package init(_ what: String, advice: String, further: String? = nil, detail: String? = nil) {
    (self.what, self.advice, self.further, self.detail) = (what, advice, further, detail)
  }

  /// The advice with what to do if it does not help.
  package var fullAdvice: String { further.map { "\(advice); \($0)" } ?? advice }

  /// For errors that `whorl doctor` knows more about.
  static let doctor = "if that does not help, 'whorl doctor' looks further"
}

extension Accessibility {
  /// The items of this class, as the words after "your", as in the manual page whorl-access(7).
  package var plainName: String {
    switch self {
    case .whenUnlocked: "everyday secrets"
    case .afterFirstUnlock: "background secrets"
    case .passcodeSet: "passcode-bound secrets"
    }
  }
}

extension Explanation {
  /// The person or a signal cancelled it.
  package static let cancelled = Explanation("cancelled", advice: "run it again")

  /// A mistake of Whorl's own.
  package static func defect(_ problem: String) -> Explanation {
    Explanation(
      "Whorl itself has failed (internal error)", advice: "run it again with --verbose, and report what that says",
      detail: problem)
  }
}
