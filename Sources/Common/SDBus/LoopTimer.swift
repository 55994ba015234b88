internal import Synchronization

/// Runs a closure on the bus loop after a time, unless it is cancelled before. Unlike `Task.sleep`, it leaves no timer
/// behind when it is cancelled.
package final class LoopTimer: BusLoopSource {
  /// For a timer that judges another process as too late: how long the loop still looks for what that process has sent.
  /// It begins when the loop notices that the time has passed. A loop that could not run itself, on a busy machine or
  /// while its process was stopped, notices this late, and finds the message and the passed time together.
  package static let grace = Duration.seconds(1)

  private let deadline: Atomic<UInt64>
  private let isJudge: Bool
  private let isJudging = Atomic(false)
  private let isCancelled = Atomic(false)
  private let body: @Sendable () -> Void

  /// - Parameters:
  ///   - judgesOther: whether the closure treats another process as too late. Then it runs `grace` later.
  ///   - body: must not block.
  package init(after time: Duration, judgesOther: Bool = false, _ body: @escaping @Sendable () -> Void) {
    deadline = Atomic(LoopClock.now + time.microseconds)
    isJudge = judgesOther
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
    // The loop may have found the timer and a message at the same time, and handles the message first.
    isCancelled.store(true, ordering: .relaxed)
    BusLoop.shared.post { BusLoop.shared.remove(self) }
  }

  package func pollRequest() -> BusPollRequest? {
    BusPollRequest(descriptor: -1, events: 0, deadline: deadline.load(ordering: .relaxed), isAwaited: false)
  }

  package func dispatch() {
    guard !isJudge || isJudging.exchange(true, ordering: .relaxed) else {
      return deadline.store(LoopClock.now + Self.grace.microseconds, ordering: .relaxed)
    }
    BusLoop.shared.remove(self)
    if !isCancelled.load(ordering: .relaxed) { body() }
  }
}

extension Duration {
  /// The duration in microseconds, rounded down. A negative duration is 0.
  package var microseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(clamping: seconds) * 1_000_000 + UInt64(clamping: attoseconds / 1_000_000_000_000)
  }
}
