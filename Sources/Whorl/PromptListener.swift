internal import Synchronization
internal import Vault

/// Hands a context's events to whoever shows them, one after the other, and knows how far that has come.
package final class PromptListener: Sendable {
  private let events = Mutex<ContextEvents?>(nil)
  private let shown = Atomic(0)

  package init() {}

  /// Runs until the context ends.
  package func follow(_ events: ContextEvents, _ show: (AuthenticationEvent) async -> Void) async {
    self.events.withLock { $0 = events }
    for await event in events {
      await show(event)
      shown.add(1, ordering: .releasing)
    }
  }

  /// Waits until all that has happened has been shown: what the program says next is to come after it. A second at most,
  /// for showing may wait for a person.
  package func caughtUp() async {
    let told = events.withLock { $0 }?.count ?? 0
    for _ in 1...1_000 where shown.load(ordering: .acquiring) < told {
      guard (try? await Task.sleep(for: .milliseconds(1))) != nil else { return }
    }
  }
}
