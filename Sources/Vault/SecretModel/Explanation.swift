/// What an error means to a person, and what to do about it. Both are for somebody who is no engineer: without the names
/// of errors, interfaces, classes or permissions, which are in ``detail``.
package struct Explanation: Sendable, Hashable {
  /// What happened, in words that follow "whorl: ".
  package var what: String
  /// What to do next, in words that follow a colon.
  package var advice: String
  /// What the cause says of itself, for whoever looks closer (`--verbose`, `--json`).
  package var detail: String?

  package init(_ what: String, advice: String, detail: String? = nil) {
    (self.what, self.advice, self.detail) = (what, advice, detail)
  }
}

extension Accessibility {
  /// The items of this class, in words that follow "your": what the manual page whorl-access(7) calls them, too.
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
