internal import SDBus
internal import SecretModel

/// Forwards the events of one context to the client.
final class ForwardedEvents {
  let events: ContextEvents
  /// The number of the last event that was sent.
  var sent = 0
  var isFinished = false
  /// Whether the client has closed the context. Its last events may still be on their way.
  var isClosed: Bool { memory == nil }
  /// The memory of the context; nil once it is closed.
  private var memory: MemoryBudget.Share?
  /// The memory of the call that has set the context's application password.
  var password: MemoryBudget.Share?
  /// Answers that wait until earlier events have been sent.
  var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ events: ContextEvents, _ memory: MemoryBudget.Share) { (self.events, self.memory) = (events, memory) }

  func close() { memory = nil }

  func resumeWaiting() {
    let answers = waiting
    waiting = []
    for answer in answers { answer.resume() }
  }
}
