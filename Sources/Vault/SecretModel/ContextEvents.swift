import Synchronization

/// An event of a context and its number; the first is number 1. An answer carries the number of its question, so that a
/// late answer is not taken for another question's.
package struct NumberedEvent: Sendable {
  package let number: Int
  package let event: AuthenticationEvent
}

/// The events of an authentication context in order, for its one listener.
package struct ContextEvents: AsyncSequence, Sendable {
  private let stream: AsyncStream<NumberedEvent>
  private let source: EventSource

  package init(_ stream: AsyncStream<NumberedEvent>, _ source: EventSource) {
    self.stream = stream
    self.source = source
  }

  /// The number of the last event so far, received or not; 0 before the first. All events of a call are sent before the
  /// call returns.
  package var lastNumber: Int { source.lastNumber }
  /// The counts of the events so far.
  package var tally: EventTally { source.tally }

  package func makeAsyncIterator() -> AsyncStream<NumberedEvent>.Iterator { stream.makeAsyncIterator() }
}

/// The vault's end of a context's events.
package final class EventSource: Sendable {
  private let continuation: AsyncStream<NumberedEvent>.Continuation
  private let state = Mutex((last: 0, tally: EventTally()))

  package init(_ continuation: AsyncStream<NumberedEvent>.Continuation) { self.continuation = continuation }

  package var lastNumber: Int { state.withLock { $0.last } }
  /// The counts of the events so far.
  package var tally: EventTally { state.withLock { $0.tally } }

  /// Numbers the event and sends it to the listener.
  @discardableResult
  package func yield(_ event: AuthenticationEvent) -> Int {
    // Under the lock, so that the listener gets the events in the order of their numbers.
    state.withLock { state in
      state.last += 1
      state.tally.count(event)
      continuation.yield(NumberedEvent(number: state.last, event: event))
      return state.last
    }
  }

  /// Sends an event that came from another process with its number. Nil is an event that this version does not know:
  /// only its number counts. Ignores an event whose number is not greater than the last.
  ///
  /// - Returns: whether the number was greater than the last.
  @discardableResult
  package func yield(_ event: AuthenticationEvent?, number: Int) -> Bool {
    state.withLock { state in
      guard number > state.last else { return false }
      state.last = number
      if let event { continuation.yield(NumberedEvent(number: number, event: event)) }
      return true
    }
  }

  /// Counts a wrong passcode. The listener notices it only if another one is asked for.
  package func noteWrongPasscode() { state.withLock { $0.tally.noteWrongPasscode() } }

  package func finish() { continuation.finish() }
}
