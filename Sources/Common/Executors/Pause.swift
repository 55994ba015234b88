internal import Dispatch
internal import Synchronization

/// Waits like `Task.sleep`, without a thread of the cooperative pool.
///
/// Once that pool, or a global or concurrent queue of libdispatch, has run its first job, libdispatch checks every
/// second how busy its threads are, until the process ends. Programs that run for days must not wake a laptop's
/// processor like this. So their tasks name an executor (``BackgroundThread``), and wait here.
package enum Pause {
  /// Does not count the time in which the machine sleeps.
  ///
  /// - Throws: when the task is cancelled, at once.
  nonisolated(nonsending) package static func wait(for time: Duration) async throws(CancellationError) {
    let timer = PauseTimer()
    await withTaskCancellationHandler {
      await withCheckedContinuation { timer.begin(time, $0) }
    } onCancel: {
      timer.end()
    }
    if Task.isCancelled { throw CancellationError() }
  }
}

private final class PauseTimer: Sendable {
  private enum State {
    case new
    case waiting(CheckedContinuation<Void, Never>)
    case over
  }

  // A serial queue has a thread of its own, which libdispatch does not check.
  private static let queue = DispatchQueue(label: "whorl.pauses")

  private let state = Mutex(State.new)
  private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

  func begin(_ time: Duration, _ call: CheckedContinuation<Void, Never>) {
    let isOver = state.withLock { state in
      guard case .new = state else { return true }
      state = .waiting(call)
      return false
    }
    guard !isOver else { return call.resume() }
    timer.withLock { timer in
      let source = DispatchSource.makeTimerSource(queue: Self.queue)
      source.setEventHandler { self.end() }
      source.schedule(deadline: .now() + .nanoseconds(Int(clamping: max(.zero, time).nanoseconds)))
      source.activate()
      timer = source
    }
    // A cancellation may have come before the timer.
    if state.withLock({ if case .over = $0 { true } else { false } }) { drop() }
  }

  func end() {
    let call: CheckedContinuation<Void, Never>? = state.withLock { state in
      defer { state = .over }
      if case .waiting(let call) = state { return call }
      return nil
    }
    drop()
    call?.resume()
  }

  private func drop() {
    timer.withLock { timer in
      timer?.cancel()
      timer = nil
    }
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    let (seconds, rest) = (components.seconds, components.attoseconds / 1_000_000_000)
    // More than any program waits.
    return min(seconds, 1_000_000_000) * 1_000_000_000 + rest
  }
}
