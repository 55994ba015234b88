internal import Synchronization

/// The answer to a call that was sent. It may come before the caller waits for it.
final class AwaitedAnswer: Sendable {
  typealias Answer = WaitingCalls.Answer

  private enum State {
    case none
    case given(Answer)
    case awaited(CheckedContinuation<Answer, Never>)
  }

  private let state = Mutex(State.none)

  /// Call it once.
  func give(_ answer: Answer) {
    let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
      guard case .awaited(let continuation) = state else {
        state = .given(answer)
        return nil
      }
      return continuation
    }
    waiting?.resume(returning: answer)
  }

  /// Waits for the answer. Read it once.
  var value: Answer {
    get async {
      await withCheckedContinuation { continuation in
        let answer: Answer? = state.withLock { state in
          if case .given(let answer) = state { return answer }
          state = .awaited(continuation)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }
}
