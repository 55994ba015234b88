internal import Synchronization

/// Lets one request at a time ask the person. Programs take turns, so that many requests of one program delay that
/// program alone; the requests of one program are served in order. Other programs of Whorl in the session take turns with
/// this one.
package final class PromptTurns: Sendable {
  private struct Waiting {
    let number: Int
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var isTaken = false
    var lastNumber = 0
    /// The programs with waiting requests, the next one first.
    var programs: [String] = []
    /// The waiting requests of each of these programs, at least one.
    var waiting: [String: [Waiting]] = [:]
    /// Requests that were cancelled before they began to wait.
    var cancelled: Set<Int> = []
  }

  /// The longest wait for the prompts of other programs of Whorl.
  private static let sessionLimit = Duration.seconds(120)

  private let state = Mutex(State())
  private let bus: String?

  /// - Parameter address: of the session's bus; nil for requests that are no prompts, which wait for no other program.
  package init(onBus address: String? = nil) { bus = address }

  /// How many requests wait.
  package var count: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

  /// Runs `body` when it is this program's turn. Nil where the task was cancelled before its turn.
  package func run<Value: Sendable, Failure: Error>(
    for program: String, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let isMine = await withTaskCancellationHandler {
      await withCheckedContinuation { wait(Waiting(number: number, continuation: $0), program) }
    } onCancel: {
      cancel(number)
    }
    defer { state.withLock { _ = $0.cancelled.remove(number) } }
    guard isMine else { return nil }
    defer { next() }
    guard !Task.isCancelled else { return nil }
    var turn: SessionTurn?
    if let bus { turn = await SessionTurn(onBus: bus, within: Self.sessionLimit) }
    defer { turn?.end() }
    return Task.isCancelled ? nil : try await body()
  }

  private func wait(_ waiting: Waiting, _ program: String) {
    let answer: Bool? = state.withLock { state in
      if state.cancelled.remove(waiting.number) != nil { return false }
      guard state.isTaken else {
        state.isTaken = true
        return true
      }
      if state.waiting[program] == nil { state.programs.append(program) }
      state.waiting[program, default: []].append(waiting)
      return nil
    }
    if let answer { waiting.continuation.resume(returning: answer) }
  }

  private func cancel(_ number: Int) {
    let cancelled: Waiting? = state.withLock { state in
      for (program, queue) in state.waiting {
        guard let place = queue.firstIndex(where: { $0.number == number }) else { continue }
        state.waiting[program]?.remove(at: place)
        if state.waiting[program]?.isEmpty == true {
          state.waiting[program] = nil
          state.programs.removeAll { $0 == program }
        }
        return queue[place]
      }
      state.cancelled.insert(number)
      return nil
    }
    cancelled?.continuation.resume(returning: false)
  }

  private func next() {
    let next: Waiting? = state.withLock { state in
      guard !state.programs.isEmpty else {
        state.isTaken = false
        return nil
      }
      let program = state.programs.removeFirst()
      var queue = state.waiting[program] ?? []
      let first = queue.removeFirst()
      state.waiting[program] = queue.isEmpty ? nil : queue
      if !queue.isEmpty { state.programs.append(program) }
      return first
    }
    next?.continuation.resume(returning: true)
  }
}
