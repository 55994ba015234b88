import Synchronization

/// An event of a context, with its place among them: the first is number 1. The number of an event that asks for
/// something names the question, so that a late answer meets no other question.
package struct NumberedEvent: Sendable {
  package let number: Int
  package let event: AuthenticationEvent
}

/// What happens in an authentication context, in order, for its one listener.
package struct ContextEvents: AsyncSequence, Sendable {
  private let stream: AsyncStream<NumberedEvent>
  private let source: EventSource

  package init(_ stream: AsyncStream<NumberedEvent>, _ source: EventSource) {
    self.stream = stream
    self.source = source
  }

  /// The number of the last event so far, heard or not; 0 before the first. Every event of a call comes before the call's
  /// answer: read after the answer, no event of the call has a greater number.
  package var lastNumber: Int { source.lastNumber }

  package func makeAsyncIterator() -> AsyncStream<NumberedEvent>.Iterator { stream.makeAsyncIterator() }
}

/// The end of a context's events that the vault holds.
package final class EventSource: Sendable {
  private let continuation: AsyncStream<NumberedEvent>.Continuation
  private let last = Mutex(0)

  package init(_ continuation: AsyncStream<NumberedEvent>.Continuation) { self.continuation = continuation }

  package var lastNumber: Int { last.withLock { $0 } }

  /// Gives the event its number and tells the listener.
  @discardableResult
  package func yield(_ event: AuthenticationEvent) -> Int {
    // Under the lock, so that the listener gets the events in the order of their numbers.
    last.withLock { last in
      last += 1
      continuation.yield(NumberedEvent(number: last, event: event))
      return last
    }
  }

  /// Takes an event with the number that another process gave it, for a context of a vault there. An event that is nil
  /// is not understood here: its number counts all the same. A number that is not greater than the last is ignored.
  ///
  /// - Returns: whether the number was greater than the last.
  @discardableResult
  package func yield(_ event: AuthenticationEvent?, number: Int) -> Bool {
    last.withLock { last in
      guard number > last else { return false }
      last = number
      if let event { continuation.yield(NumberedEvent(number: number, event: event)) }
      return true
    }
  }

  package func finish() { continuation.finish() }
}
