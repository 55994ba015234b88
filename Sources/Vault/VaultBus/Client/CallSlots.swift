internal import Synchronization

/// Lets as many calls be open on a connection as the vault accepts. More wait for their turn, in their order.
final class CallSlots: Sendable {
  private struct Waiting {
    let number: Int
    let call: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var free: Int
    var lastNumber = 0
    var waiting: [Waiting] = []
    /// Calls that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: count)) }

  /// Takes a free slot. False where there is none.
  func takeFree() -> Bool {
    state.withLock { state in
      guard state.free > 0 else { return false }
      state.free -= 1
      return true
    }
  }

  /// Waits for a slot. False where the task was cancelled before there was one.
  func take() async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let isTaken = await withTaskCancellationHandler {
      await withCheckedContinuation { call in
        let answer: Bool? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return false }
          guard state.free == 0 else {
            state.free -= 1
            return true
          }
          state.waiting.append(Waiting(number: number, call: call))
          return nil
        }
        if let answer { call.resume(returning: answer) }
      }
    } onCancel: {
      let waiting: Waiting? = state.withLock { state in
        guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.waiting.remove(at: place)
      }
      waiting?.call.resume(returning: false)
    }
    state.withLock { _ = $0.cancelled.remove(number) }
    return isTaken
  }

  /// Gives a slot back, to the call that has waited longest.
  func give() {
    let next: Waiting? = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.call.resume(returning: true)
  }
}
