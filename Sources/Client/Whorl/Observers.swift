internal import SecretModel
internal import Synchronization

/// The streams of events of a context.
final class Observers: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<AuthenticationEvent>.Continuation] = [:]
    var last = 0
    var finished = false
  }

  private let state = Mutex(State())

  /// The events from now on.
  func makeStream() -> AsyncStream<AuthenticationEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: AuthenticationEvent.self)
    let number = state.withLock { state -> Int? in
      guard !state.finished else { return nil }
      state.last += 1
      state.streams[state.last] = continuation
      return state.last
    }
    if let number {
      continuation.onTermination = { [weak self] _ in self?.remove(number) }
    } else {
      continuation.finish()
    }
    return stream
  }

  func yield(_ event: AuthenticationEvent) {
    for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
  }

  func finish() {
    let streams = state.withLock { state in
      state.finished = true
      defer { state.streams = [:] }
      return Array(state.streams.values)
    }
    for stream in streams { stream.finish() }
  }

  private func remove(_ number: Int) { state.withLock { $0.streams[number] = nil } }
}
