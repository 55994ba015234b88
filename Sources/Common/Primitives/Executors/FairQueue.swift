internal import Synchronization

/// A call's turn in a ``FairQueue``, which lasts until this value is destroyed.
///
/// It is not generic: Swift 6.3 leaves out the `deinit` of a generic noncopyable type in optimized builds.
package struct QueueTurn: ~Copyable, Sendable {
  private let end: @Sendable () -> Void

  fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}

/// Why a call has no turn. It is not generic: Swift 6.2 crashes where an asynchronous function throws a generic error.
package enum QueueRefusal: Error {
  /// The queue of its group is full.
  case tooManyWait
  /// Its task was cancelled before its turn.
  case cancelled
}

/// Gives calls turns, a limited number at a time. Groups of calls (of one program, of one user) take turns too, so that
/// a group with many calls delays only itself; the calls of one group are served in order.
package final class FairQueue<Group: Hashable & Sendable>: Sendable {
  private struct Waiting {
    let number: UInt64
    /// Resumed with nil when it is the call's turn.
    let answer: CheckedContinuation<QueueRefusal?, Never>
  }

  private struct State {
    /// How many calls of each group have a turn.
    var running: [Group: Int] = [:]
    /// The waiting calls of each group, at least one.
    var waiting: [Group: [Waiting]] = [:]
    /// The groups whose next call may get a free turn, in order.
    var order: [Group] = []
    var lastNumber: UInt64 = 0
  }

  private let width: Int
  private let widthOfGroup: Int
  private let waitingLimit: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - width: how many calls have a turn at a time.
  ///   - widthOfGroup: how many of these may be of one group.
  ///   - waitingLimit: how many calls of one group may wait.
  package init(width: Int = 1, widthOfGroup: Int = 1, waitingLimit: Int = .max) {
    (self.width, self.widthOfGroup, self.waitingLimit) = (width, widthOfGroup, waitingLimit)
  }

  /// How many calls wait.
  package var count: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

  /// Waits for a turn.
  package nonisolated(nonsending) func turn(for group: Group) async throws(QueueRefusal) -> QueueTurn {
    let number: UInt64? = state.withLock { state in
      if begin(group, &state) { return nil }
      state.lastNumber += 1
      return state.lastNumber
    }
    guard let number else { return turn(of: group) }
    let refusal = await withTaskCancellationHandler {
      await withCheckedContinuation { wait(Waiting(number: number, answer: $0), group) }
    } onCancel: {
      cancel(number, of: group)
    }
    if let refusal { throw refusal }
    return turn(of: group)
  }

  private func turn(of group: Group) -> QueueTurn { QueueTurn { self.end(group) } }

  private func wait(_ call: Waiting, _ group: Group) {
    let answer: QueueRefusal?? = state.withLock { state in
      // Checked under the lock: a later cancel finds the call in the queue.
      guard !Task.isCancelled else { return .some(.cancelled) }
      guard !begin(group, &state) else { return .some(nil) }
      guard state.waiting[group, default: []].count < waitingLimit else { return .some(.tooManyWait) }
      state.waiting[group, default: []].append(call)
      giveOrder(group, &state)
      return nil
    }
    if let answer { call.answer.resume(returning: answer) }
  }

  private func cancel(_ number: UInt64, of group: Group) {
    let call: Waiting? = state.withLock { state in
      guard let place = state.waiting[group]?.firstIndex(where: { $0.number == number }) else { return nil }
      return remove(at: place, of: group, &state)
    }
    call?.answer.resume(returning: .cancelled)
  }

  private func end(_ group: Group) {
    let next: Waiting? = state.withLock { state in
      let left = state.running[group, default: 1] - 1
      state.running[group] = left == 0 ? nil : left
      giveOrder(group, &state)
      guard let group = state.order.first else { return nil }
      let call = remove(at: 0, of: group, &state)
      state.running[group, default: 0] += 1
      // The group moves behind the others.
      state.order.removeAll { $0 == group }
      giveOrder(group, &state)
      return call
    }
    next?.answer.resume(returning: nil)
  }

  /// Gives a call of this group a turn, if one is free.
  private func begin(_ group: Group, _ state: inout State) -> Bool {
    guard state.running.values.reduce(0, +) < width, state.running[group, default: 0] < widthOfGroup else {
      return false
    }
    state.running[group, default: 0] += 1
    return true
  }

  /// Appends a group to the order, if one of its calls waits and may have a turn.
  private func giveOrder(_ group: Group, _ state: inout State) {
    guard state.waiting[group] != nil, state.running[group, default: 0] < widthOfGroup, !state.order.contains(group)
    else { return }
    state.order.append(group)
  }

  private func remove(at place: Int, of group: Group, _ state: inout State) -> Waiting? {
    let call = state.waiting[group]?.remove(at: place)
    if state.waiting[group]?.isEmpty == true {
      state.waiting[group] = nil
      state.order.removeAll { $0 == group }
    }
    return call
  }
}

/// The only group of a queue whose calls are served in order.
package enum OneGroup: Hashable, Sendable { case one }

extension FairQueue<OneGroup> {
  package convenience init(width: Int = 1) { self.init(width: width, widthOfGroup: width) }

  /// Waits for a turn.
  package nonisolated(nonsending) func turn() async throws(QueueRefusal) -> QueueTurn { try await turn(for: .one) }
}
