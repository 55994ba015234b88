/// Runs a closure on the bus loop after a time, unless it is cancelled before. Unlike `Task.sleep`, it leaves no timer
/// behind when it is cancelled.
package final class LoopTimer: BusLoopSource {
  private let deadline: UInt64
  private let body: @Sendable () -> Void

  /// - Parameter body: must not block.
  package init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    deadline = LoopClock.now + time.microseconds
    self.body = body
    BusLoop.shared.post { BusLoop.shared.add(self) }
  }

  /// Waits for a time, also if the task is cancelled. The first `Task.sleep` of a process opens four descriptors, which
  /// stay open.
  package static func wait(for time: Duration) async {
    await withCheckedContinuation { continuation in
      _ = LoopTimer(after: time) { continuation.resume() }
    }
  }

  /// Does nothing if the closure has run.
  package func cancel() {
    BusLoop.shared.post { BusLoop.shared.remove(self) }
  }

  package func pollRequest() -> BusPollRequest? {
    BusPollRequest(descriptor: -1, events: 0, deadline: deadline, isAwaited: false)
  }

  package func dispatch() {
    BusLoop.shared.remove(self)
    body()
  }
}

extension Duration {
  /// The duration in microseconds, rounded down. A negative duration is 0.
  package var microseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(clamping: seconds) * 1_000_000 + UInt64(clamping: attoseconds / 1_000_000_000_000)
  }
}
