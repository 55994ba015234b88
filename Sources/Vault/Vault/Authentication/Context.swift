import Fingerprint
import SecureMemory

/// An authentication context inside the vault: what it was opened with, and what it waits for now.
final class Context {
  let client: Client
  var options: ContextOptions
  let events: EventSource
  /// The question for a secret that a call waits for.
  var question: Question?
  /// Cancels the action the reader is armed for.
  var scanCancel: (() -> Void)?
  var running = false
  /// How many calls there have been.
  var calls: UInt64 = 0
  var cancelled = false
  /// Whether the touch that is wanted now has a fallback, and whether it may be chosen already.
  var fallbackExists = false
  var fallbackOffered = false
  var fallbackChosen = false
  /// Why the context was cancelled, where it was not the person.
  var cancelReason: VaultError?
  /// Calls that wait for the one that runs.
  var queue: [CheckedContinuation<Void, Never>] = []
  /// What has been shown in this context, for its later calls.
  var evidence = Evidence()
  /// Given by the program, in place of asking the person.
  var applicationPassword: SecretBox?

  init(of client: Client, options: ContextOptions, events: EventSource) {
    self.client = client
    self.options = options
    self.events = events
  }

  /// Remembers what was shown, where the context serves later calls with it.
  func keep(_ shown: Evidence) {
    guard options.keepsEvidence, !cancelled else { return }
    if let grant = shown.grant { evidence.grant = grant.forContexts }
    if let passcode = shown.passcode { evidence.passcode = passcode }
  }

  /// Lets the next of the waiting calls look whether it can run.
  func giveTurn() {
    if !queue.isEmpty { queue.removeFirst().resume() }
  }

  /// A question for a secret: its number, and the call that waits for the answer.
  struct Question {
    let number: Int
    let call: CheckedContinuation<SecretBox?, Never>
  }

  /// Answers the question of this number; nil declines it. Does nothing where that one is not asked any more.
  func answer(_ number: Int, with secret: SecretBox?) {
    if let question, question.number == number { answerQuestion(with: secret) }
  }

  /// Answers whatever is asked.
  func answerQuestion(with secret: SecretBox?) {
    question?.call.resume(returning: secret)
    question = nil
  }
}

/// Carries a secret through a continuation, which cannot hold a value that is not copyable.
final class SecretBox: Sendable {
  let secret: SecretBytes

  init(_ secret: consuming SecretBytes) {
    self.secret = secret
  }
}
