import Dispatch
import Synchronization

/// Gives the users of all vaults of a process turns at slow work, which runs off the vaults' executors. One user has one
/// turn at a time, and users take turns, so that one who has much to do does not keep others waiting.
final class UserTurns: Sendable {
  /// How many turns are given at a time.
  private let width: Int
  /// How many calls of one user may wait.
  private let waitingLimit: Int
  /// What waits, for the error of a call over the limit.
  private let what: String

  private enum Answer {
    case given, refused, cancelled
  }

  private struct Waiting {
    let number: UInt64
    let answer: CheckedContinuation<Answer, Never>
  }

  private struct State {
    /// The users who have a turn.
    var running: Set<UInt32> = []
    var waiting: [UInt32: [Waiting]] = [:]
    /// The users who wait for a turn, in their order.
    var order: [UInt32] = []
    var calls: UInt64 = 0

    /// Gives the next user a turn, if one is free.
    mutating func next(width: Int) -> Waiting? {
      guard running.count < width, !order.isEmpty else { return nil }
      let user = order.removeFirst()
      guard var calls = waiting[user] else { return nil }
      let first = calls.removeFirst()
      waiting[user] = calls.isEmpty ? nil : calls
      running.insert(user)
      return first
    }
  }

  private static let threads = DispatchQueue(label: "whorl.turns", attributes: .concurrent)

  private let state = Mutex(State())

  init(width: Int, waitingLimit: Int, what: String) {
    (self.width, self.waitingLimit, self.what) = (width, waitingLimit, what)
  }

  /// Runs a call that blocks its thread, such as scrypt, the TPM or the making of a key.
  nonisolated(nonsending)
    static func blocking<Value: Sendable>(_ call: @escaping @Sendable () throws(VaultError) -> Value)
    async throws(VaultError) -> Value
  {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, VaultError>, Never>) in
      threads.async { done.resume(returning: Result { () throws(VaultError) in try call() }) }
    }
    return try result.get()
  }

  /// The right to work for a user, until this value is destroyed.
  struct Turn: ~Copyable {
    private let turns: UserTurns
    private let user: UInt32

    fileprivate init(_ turns: UserTurns, _ user: UInt32) { (self.turns, self.user) = (turns, user) }

    deinit { turns.end(user) }
  }

  /// Waits for a turn of this user.
  ///
  /// - Throws: `busy` where too many calls wait, `cancelled` where the task was cancelled.
  nonisolated(nonsending) func turn(for user: UInt32) async throws(VaultError) -> Turn {
    let number = state.withLock { state in
      state.calls += 1
      return state.calls
    }
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { wait(Waiting(number: number, answer: $0), user) }
    } onCancel: {
      cancel(number, of: user)
    }
    switch answer {
    case .given: return Turn(self, user)
    case .refused: throw .busy("\(waitingLimit) \(what)")
    case .cancelled: throw .cancelled
    }
  }

  private func wait(_ call: Waiting, _ user: UInt32) {
    let answer: Answer? = state.withLock { state in
      // Checked under the lock: a later cancel finds the call in the queue.
      guard !Task.isCancelled else { return .cancelled }
      if !state.running.contains(user), state.running.count < width {
        state.running.insert(user)
        return .given
      }
      guard state.waiting[user, default: []].count < waitingLimit else { return .refused }
      if state.waiting[user] == nil, !state.running.contains(user) { state.order.append(user) }
      state.waiting[user, default: []].append(call)
      return nil
    }
    if let answer { call.answer.resume(returning: answer) }
  }

  private func cancel(_ number: UInt64, of user: UInt32) {
    let call: Waiting? = state.withLock { state in
      guard let index = state.waiting[user]?.firstIndex(where: { $0.number == number }) else { return nil }
      let call = state.waiting[user]?.remove(at: index)
      if state.waiting[user]?.isEmpty == true {
        state.waiting[user] = nil
        state.order.removeAll { $0 == user }
      }
      return call
    }
    call?.answer.resume(returning: .cancelled)
  }

  private func end(_ user: UInt32) {
    let next = state.withLock { state in
      state.running.remove(user)
      if state.waiting[user] != nil { state.order.append(user) }
      return state.next(width: width)
    }
    next?.answer.resume(returning: .given)
  }
}
