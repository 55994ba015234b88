import Dispatch
import Keys
import SecretModel
import Synchronization

/// Runs scrypt on passcodes and passwords, off the vaults' executors, for all vaults of a process.
///
/// scrypt takes 128 MiB and most of a second. One derivation for each user runs at a time, and two in all. Users take
/// turns, so that one who tries many passcodes does not keep others from unlocking.
package final class ScryptQueue: Sendable {
  /// How many derivations run at a time.
  static let width = 2
  /// How many derivations of one user may wait.
  static let waitingLimit = 8

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
    mutating func next() -> Waiting? {
      guard running.count < ScryptQueue.width, !order.isEmpty else { return nil }
      let user = order.removeFirst()
      guard var calls = waiting[user] else { return nil }
      let first = calls.removeFirst()
      waiting[user] = calls.isEmpty ? nil : calls
      running.insert(user)
      return first
    }
  }

  private static let threads = DispatchQueue(label: "whorl.scrypt", attributes: .concurrent)

  private let state = Mutex(State())

  package init() {}

  /// Runs a call that blocks its thread, such as scrypt or the TPM.
  nonisolated(nonsending)
    static func blocking<Value: Sendable>(_ call: @escaping @Sendable () throws(VaultError) -> Value)
    async throws(VaultError) -> Value
  {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, VaultError>, Never>) in
      threads.async { done.resume(returning: Result { () throws(VaultError) in try call() }) }
    }
    return try result.get()
  }

  /// The right to derive keys for a user, until this value is destroyed.
  struct Turn: ~Copyable {
    private let queue: ScryptQueue
    private let user: UInt32

    fileprivate init(_ queue: ScryptQueue, _ user: UInt32) { (self.queue, self.user) = (queue, user) }

    nonisolated(nonsending)
      func stretch(_ passcode: SecretBox, _ parameters: Scrypt.Parameters, _ floor: Scrypt.Floor)
      async throws(VaultError) -> SecretBox
    {
      try await ScryptQueue.blocking { () throws(VaultError) in
        do throws(KeysError) {
          return SecretBox(try Scrypt.derive(passcode: passcode.secret, parameters: parameters, floor: floor))
        } catch {
          throw VaultError(keys: error)
        }
      }
    }

    deinit { queue.end(user) }
  }

  /// Waits until a key may be derived for this user.
  ///
  /// - Throws: `busy` where too many derivations wait, `cancelled` where the task was cancelled.
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
    case .refused: throw .busy("\(Self.waitingLimit) passcodes and passwords wait to be checked")
    case .cancelled: throw .cancelled
    }
  }

  private func wait(_ call: Waiting, _ user: UInt32) {
    let answer: Answer? = state.withLock { state in
      // Checked under the lock: a later cancel finds the call in the queue.
      guard !Task.isCancelled else { return .cancelled }
      if !state.running.contains(user), state.running.count < Self.width {
        state.running.insert(user)
        return .given
      }
      guard state.waiting[user, default: []].count < Self.waitingLimit else { return .refused }
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
      return state.next()
    }
    next?.answer.resume(returning: .given)
  }
}
