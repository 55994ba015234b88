internal import Synchronization

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
