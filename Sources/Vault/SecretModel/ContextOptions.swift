/// How a context prompts the person.
package struct ContextOptions: Sendable {
  /// Whether to refuse calls that need a finger or a passcode, instead of asking.
  package var interactionNotAllowed: Bool
  /// How long to wait for the next touch; nil for as long as the reader waits.
  package var timeout: Duration?
  /// Whether to ask for the passcode instead of the finger if the item allows it.
  package var preferPasscode: Bool
  /// Whether the caller can answer the passcode itself, so that asking for it does not count as interaction.
  package var passcodeSupplied: Bool

  /// Whether a passcode that can be guessed in a day is accepted, because the person insists.
  package var allowsGuessablePasscode = false

  /// When the fallback is offered.
  package var fallback: Fallback = .atOnce
  /// Whether later calls of the context reuse what was shown in it, until it is invalidated.
  package var keepsEvidence = false
  /// The maximum age of an earlier match of the same user that replaces a touch. Only with `keepsEvidence`.
  package var reuseDuration: Duration = .zero

  /// The upper limit of ``reuseDuration``: Apple's `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
  package static let longestReuse: Duration = .seconds(300)

  package enum Fallback: String, Sendable {
    case atOnce = "at-once"
    /// After the first touch that does not match, if the passcode may take the finger's place.
    case afterNoMatch = "after-no-match"
    /// After the first touch that does not match. If the passcode may not take the finger's place, choosing the
    /// fallback ends the call with `userFallback`.
    case callersAfterNoMatch = "callers-after-no-match"
    case never
  }

  package init(
    interactionNotAllowed: Bool = false, timeout: Duration? = .seconds(60), preferPasscode: Bool = false,
    passcodeSupplied: Bool = false
  ) {
    self.passcodeSupplied = passcodeSupplied
    self.interactionNotAllowed = interactionNotAllowed
    self.timeout = timeout
    self.preferPasscode = preferPasscode
  }
}
