package import SecureMemory

/// A response of the person or the prompt. `question` is the number of the event that asked.
package enum ContextResponse: ~Copyable, Sendable {
  /// The wanted secret. Does nothing if this question is no longer open.
  case secret(question: Int, SecretBytes)
  /// Declines the question.
  case decline(question: Int)
  /// The prompt for the touch is shown: the reader may be armed.
  case ready(question: Int)
  /// Chooses the fallback in place of the touch: the passcode, or the caller's own. Does nothing if the wanted touch
  /// has no fallback.
  case fallback
  /// Ends the request of the same user that the notice with this number named (``ReaderUse/program(_:items:)``), as if
  /// the person had cancelled it, and puts this one before the user's others. Does nothing if another request is using
  /// the reader by now.
  case reject(notice: Int)
  /// Ends the running call with ``VaultError/cancelled``.
  case cancel
}
