package import PromptTexts
package import SecretModel
package import TerminalLines

/// How a program may configure a terminal prompt.
package struct TerminalPromptStyle: Sendable {
  package enum Output: Sendable {
    /// Lines on the terminal.
    case terminal
    /// Lines on standard error; if that is a terminal, the last line is replaced.
    case standardError
  }

  package var output = Output.terminal
  /// The other program for which this one asks; nil if it asks for itself.
  package var asker: PromptAsker?
  /// Answers that the program has without asking the person.
  package var answers: (any PreparedAnswers)?

  package init() {}
}

/// Answers that a program has without asking the person, such as those read from descriptors.
package protocol PreparedAnswers: Sendable {
  /// The answer to a request. May block. `unavailable` says why the passcode is asked for in place of a finger.
  func answer(_ request: SecretRequest, unavailable: VaultError?) -> PreparedAnswer

  /// Called when the person was asked and did not answer, for a reason other than cancelling.
  func unanswered(_ reason: Unanswered)
}

package enum PreparedAnswer: Sendable {
  case secret(SharedSecret)
  /// Ask the person. Ask twice if a mistyped answer could not be noticed later.
  case ask(twice: Bool)
  /// There is no answer, and nobody may be asked.
  case none
}
