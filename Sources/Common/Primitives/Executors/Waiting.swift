// Waiting without a thread: for a time, and until a count has grown.

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

/// A count that only grows, for calls that wait until it has grown.
package final class GrowingCount: Sendable {
  private struct Waiting {
    let number: Int
    let least: Int
    let call: CheckedContinuation<Void, Never>
  }

  private struct State {
    var value = 0
    var lastNumber = 0
    var waiting: [Waiting] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var value: Int { state.withLock { $0.value } }

  package func increment() { grow { $0 + 1 } }

  /// Does nothing if the count is as large already.
  package func grow(to value: Int) { grow { max($0, value) } }

  private func grow(_ next: (Int) -> Int) {
    let reached = state.withLock { state in
      state.value = next(state.value)
      let value = state.value
      defer { state.waiting.removeAll { $0.least <= value } }
      return state.waiting.filter { $0.least <= value }
    }
    for each in reached { each.call.resume() }
  }

  /// Returns when the count is `least` or more, or the task is cancelled.
  package nonisolated(nonsending) func reaches(_ least: Int) async {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { call in
        let isOver = state.withLock { state in
          // Checked under the lock: a later cancel finds the call among those that wait.
          guard state.value < least, !Task.isCancelled else { return true }
          state.waiting.append(Waiting(number: number, least: least, call: call))
          return false
        }
        if isOver { call.resume() }
      }
    } onCancel: {
      let cancelled = state.withLock { state in
        let place = state.waiting.firstIndex { $0.number == number }
        return place.map { state.waiting.remove(at: $0) }
      }
      cancelled?.call.resume()
    }
  }
}
