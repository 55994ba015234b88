internal import Executors
internal import SDBus
package import SecretModel

/// Hands a context's events to a prompt, one after the other, and keeps track of which have been shown.
package final class PromptListener: Sendable {
  /// The longest wait for a prompt, which may be waiting for the person itself.
  private static let promptLimit = Duration.seconds(1)

  private let events: ContextEvents
  /// The number of the last event that has been shown.
  private let shown = GrowingCount()

  package init(_ events: ContextEvents) { self.events = events }

  /// Runs until the context ends.
  package func run(_ show: (NumberedEvent) async -> Void) async {
    for await event in events {
      await show(event)
      shown.grow(to: event.number)
    }
  }

  /// Waits until every earlier event has been shown, so that the program's next output comes after it; a second at most.
  package func caughtUp() async {
    let (shown, last) = (shown, events.lastNumber)
    guard shown.value < last else { return }
    let waiting = Task(executorPreference: BackgroundThread.shared) { await shown.reaches(last) }
    let timer = LoopTimer(after: Self.promptLimit) { waiting.cancel() }
    await withTaskCancellationHandler {
      await waiting.value
    } onCancel: {
      waiting.cancel()
    }
    timer.cancel()
  }
}
