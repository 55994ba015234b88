package import SecureMemory

/// What a person answers in a context. `question` is the number of the event that asked.
package enum ContextResponse: ~Copyable, Sendable {
  /// The secret that was wanted. Does nothing where another question, or none, is asked by now.
  case secret(question: Int, SecretBytes)
  /// No answer can be given to this question.
  case decline(question: Int)
  /// The prompt for the touch that this event wants stands: the reader may be armed.
  case ready(question: Int)
  /// The fallback in place of a touch: the passcode, or the caller's own. Does nothing where the touch that is wanted has
  /// none.
  case fallback
  /// Ends the running call with ``VaultError/cancelled``.
  case cancel
}
