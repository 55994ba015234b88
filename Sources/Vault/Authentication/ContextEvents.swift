import Synchronization

/// What happens in an authentication context, in order, for its one listener.
package struct ContextEvents: AsyncSequence, Sendable {
  private let stream: AsyncStream<AuthenticationEvent>
  private let teller: EventTeller

  init(_ stream: AsyncStream<AuthenticationEvent>, _ teller: EventTeller) {
    self.stream = stream
    self.teller = teller
  }

  /// How many there have been, heard or not: all of a call's, once it has ended.
  package var count: Int { teller.count }

  package func makeAsyncIterator() -> AsyncStream<AuthenticationEvent>.Iterator { stream.makeAsyncIterator() }
}

/// The end of a context's events that the vault holds.
final class EventTeller: Sendable {
  private let continuation: AsyncStream<AuthenticationEvent>.Continuation
  private let told = Atomic(0)

  init(_ continuation: AsyncStream<AuthenticationEvent>.Continuation) { self.continuation = continuation }

  var count: Int { told.load(ordering: .acquiring) }

  func yield(_ event: AuthenticationEvent) {
    told.add(1, ordering: .releasing)
    continuation.yield(event)
  }

  func finish() { continuation.finish() }
}
