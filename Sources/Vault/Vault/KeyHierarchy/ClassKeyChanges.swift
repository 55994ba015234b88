import Synchronization

/// Counts how often the classes of a store were opened or closed, and wakes the calls that wait for it.
final class ClassKeyChanges: Sendable {
  private struct State {
    var count = 0
    var lastNumber = 0
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    /// Calls that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.count } }

  func note() {
    let waiting = state.withLock { state in
      state.count += 1
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for call in waiting { call.resume() }
  }

  /// Returns when there were more changes than `count`, or the task is cancelled.
  func wait(after count: Int) async {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { call in
        let isOver = state.withLock { state in
          if state.cancelled.remove(number) != nil || state.count != count { return true }
          state.waiting[number] = call
          return false
        }
        if isOver { call.resume() }
      }
    } onCancel: {
      let call = state.withLock { state in
        let call = state.waiting.removeValue(forKey: number)
        if call == nil { state.cancelled.insert(number) }
        return call
      }
      call?.resume()
    }
    state.withLock { _ = $0.cancelled.remove(number) }
  }
}
