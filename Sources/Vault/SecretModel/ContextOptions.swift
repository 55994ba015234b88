/// How a context asks.
package struct ContextOptions: Sendable {
  /// Nothing may be asked of the person: what needs a finger or a passcode is refused.
  package var interactionNotAllowed: Bool
  /// How long the next touch is waited for; nil waits until the reader's own limits.
  package var timeout: Duration?
  /// Use the passcode rather than the finger wherever the item allows it.
  package var preferPasscode: Bool
  /// The caller has the passcode at hand: asking for it is not interaction.
  package var passcodeSupplied: Bool

  /// When the fallback is offered beside the finger.
  package var fallback: Fallback = .atOnce
  /// What the context was satisfied with serves its later calls, until it is invalidated.
  package var keepsEvidence = false
  /// A match by the same user this recently is accepted in place of a touch; counts where evidence is kept.
  package var reuseDuration: Duration = .zero

  /// The longest time for which a match is reused: Apple's `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
  package static let longestReuse: Duration = .seconds(300)

  package enum Fallback: String, Sendable {
    case atOnce = "at-once"
    /// After the first touch that matched nobody, where the passcode may take the finger's place.
    case afterNoMatch = "after-no-match"
    /// The same, and where the passcode may not, choosing it ends the call with `userFallback`.
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
