internal import Primitives
internal import SDBus
internal import Synchronization

/// The calls of one client that are not answered yet. Some run at a time, and further ones wait for their turns, in order:
/// libsecret asks for every item of a collection at once.
final class CallTurns: Sendable {
  /// The most calls that run at a time.
  static let limit = 64
  /// The calls that end the wait of others, so they wait for none.
  private static let endings: Set = ["Close", "Dismiss"]

  private let open = Atomic(0)
  private let turns = FairQueue(width: limit)

  /// The place of a call, until it is answered.
  final class Place: Sendable {
    private let calls: CallTurns
    /// Nil for a call that has a turn at once.
    private let waiting: WaitingCalls.Share?

    fileprivate init(_ calls: CallTurns, _ waiting: WaitingCalls.Share?) {
      (self.calls, self.waiting) = (calls, waiting)
    }

    deinit { calls.open.subtract(1, ordering: .relaxed) }
  }

  /// Nil where the call would have to wait, and too many wait already.
  func place(for call: BusCall, among waiting: WaitingCalls) -> Place? {
    if open.add(1, ordering: .relaxed).newValue <= Self.limit { return Place(self, nil) }
    guard let share = waiting.share(call.arguments.cost) else {
      open.subtract(1, ordering: .relaxed)
      return nil
    }
    return Place(self, share)
  }

  /// Waits for the call's turn. Nil for a call that needs none.
  nonisolated(nonsending) func turn(for call: BusCall) async -> QueueTurn? {
    Self.endings.contains(call.member) ? nil : try? await turns.turn()
  }
}

/// The places for calls that wait, of all clients together. Each client can have ``CallTurns/limit`` calls without one, so a
/// client that takes all of them stops no other.
final class WaitingCalls: Sendable {
  static let limit = 32_768
  /// The most memory of their arguments, in bytes.
  private static let costLimit = 64 << 20

  private let used = Mutex((calls: 0, cost: 0))

  final class Share: Sendable {
    private let places: WaitingCalls
    private let cost: Int

    fileprivate init(_ places: WaitingCalls, _ cost: Int) { (self.places, self.cost) = (places, cost) }

    deinit {
      places.used.withLock { used in
        used.calls -= 1
        used.cost -= cost
      }
    }
  }

  fileprivate func share(_ cost: Int) -> Share? {
    let fits = used.withLock { used in
      guard used.calls < Self.limit, cost <= Self.costLimit - used.cost else { return false }
      used.calls += 1
      used.cost += cost
      return true
    }
    return fits ? Share(self, cost) : nil
  }
}
