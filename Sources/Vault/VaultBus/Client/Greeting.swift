internal import SecretModel
internal import Synchronization

/// The vault's answer to the hello of a connection.
final class Greeting: Sendable {
  private enum State {
    case waiting([CheckedContinuation<Result<Void, VaultError>, Never>])
    case answered(Result<Void, VaultError>)
  }

  private let state = Mutex(State.waiting([]))

  /// Waits for the answer.
  func value() async throws(VaultError) {
    let answer = await withCheckedContinuation { continuation in
      let answer: Result<Void, VaultError>? = state.withLock { state in
        switch state {
        case .answered(let answer): return answer
        case .waiting(let others):
          state = .waiting(others + [continuation])
          return nil
        }
      }
      if let answer { continuation.resume(returning: answer) }
    }
    try answer.get()
  }

  /// Sets the answer. Call it once.
  func answer(_ answer: Result<Void, VaultError>) {
    let waiting = state.withLock { state in
      defer { state = .answered(answer) }
      if case .waiting(let continuations) = state { return continuations }
      return []
    }
    for continuation in waiting { continuation.resume(returning: answer) }
  }
}
