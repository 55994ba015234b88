internal import SDBus
internal import SecretModel
internal import Synchronization

/// The open contexts of a connection, and whether the connection still exists. Events are delivered here, on the bus
/// loop, before the answers that were sent after them.
final class OpenContexts: Sendable {
  private struct State {
    var contexts: [ContextHandle: EventSource] = [:]
    var isLost = false
  }

  private let state = Mutex(State())

  var isLost: Bool { state.withLock { $0.isLost } }

  func add(_ handle: ContextHandle, _ source: EventSource) {
    let isLost = state.withLock { state in
      if !state.isLost { state.contexts[handle] = source }
      return state.isLost
    }
    if isLost { source.finish() }
  }

  func remove(_ handle: ContextHandle) {
    state.withLock { $0.contexts.removeValue(forKey: handle) }?.finish()
  }

  /// The connection has ended: no context has further events.
  func end() {
    let contexts = state.withLock { state in
      defer { state.contexts = [:] }
      state.isLost = true
      return state.contexts
    }
    for source in contexts.values { source.finish() }
  }

  /// Passes an event on to its context. Ignores events of contexts that are not open here, and events that arrive twice
  /// or out of order.
  ///
  /// - Returns: the event, if it asks for a kind of secret that this program does not know.
  func deliver(_ event: BusEvent) -> BusEvent? {
    guard let source = state.withLock({ $0.contexts[event.context] }) else { return nil }
    switch event.kind {
    case .event(let known): source.yield(known, number: event.number)
    case .unknown: source.yield(nil, number: event.number)
    case .unknownQuestion: if source.yield(nil, number: event.number) { return event }
    }
    return nil
  }
}

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
