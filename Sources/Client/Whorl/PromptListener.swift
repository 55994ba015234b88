package import SecretModel
internal import Synchronization

/// Hands a context's events to a prompt, one after the other, and keeps track of which have been shown.
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

  /// Waits until every earlier event has been shown, so that the program's next output comes after it. Waits at most a
  /// second, since a prompt may be waiting for the person.
  package func caughtUp() async {
    let last = events.lastNumber
    for _ in 1...1_000 where shown.load(ordering: .acquiring) < last {
      guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { return }
    }
  }
}
