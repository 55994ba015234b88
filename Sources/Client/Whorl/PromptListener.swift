package import SecretModel
internal import Synchronization

/// Hands a context's events to whoever shows them, one after the other, and knows how far that has come.
package final class PromptListener: Sendable {
  private let events: ContextEvents
  /// The number of the last event that has been shown.
  private let shown = Atomic(0)

  package init(_ events: ContextEvents) { self.events = events }

  /// Runs until the context ends.
  package func run(_ show: (NumberedEvent) async -> Void) async {
    for await event in events {
      await show(event)
      shown.store(event.number, ordering: .releasing)
    }
  }

  /// Waits until every event that came before this moment has been shown: what the program says next is to come after
  /// it. A second at most, for showing may wait for a person.
  package func caughtUp() async {
    let last = events.lastNumber
    for _ in 1...1_000 where shown.load(ordering: .acquiring) < last {
      guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { return }
    }
  }
}
