import Fingerprint
import SecureMemory

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

/// An authentication context inside the vault: what it was opened with, and what it waits for now.
final class Context {
  let options: ContextOptions
  let events: AsyncStream<AuthenticationEvent>.Continuation
  /// The call that waits for a secret.
  var waiting: CheckedContinuation<SecretBox?, Never>?
  /// Cancels the action the reader is armed for.
  var scanCancel: (() -> Void)?
  var running = false
  /// How many calls there have been.
  var calls: UInt64 = 0
  var cancelled = false
  /// Whether the passcode may be chosen instead of the touch that is wanted now.
  var passcodeOffered = false
  var passcodeChosen = false
  var timedOut = false

  init(options: ContextOptions, events: AsyncStream<AuthenticationEvent>.Continuation) {
    self.options = options
    self.events = events
  }

  func answer(_ secret: SecretBox?) {
    waiting?.resume(returning: secret)
    waiting = nil
  }
}

/// Carries a secret through a continuation, which cannot hold a value that is not copyable.
final class SecretBox: Sendable {
  let secret: SecretBytes

  init(_ secret: consuming SecretBytes) {
    self.secret = secret
  }
}
