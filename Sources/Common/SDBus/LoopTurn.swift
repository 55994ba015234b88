internal import CSystemd
internal import Glibc
internal import Primitives
internal import Synchronization

/// Which thread is the bus loop: the loop's own thread, or one that has borrowed it.
///
/// Only a loop that waits is lent. After a loan, its own thread rests for a moment instead of polling again, because a
/// program that has made one call often makes another: each answer would wake both threads.
package final class LoopTurn: Sendable {
  /// How long the loop's own thread rests after a loan, in microseconds.
  let rest: UInt64

  private struct State {
    /// The thread that is the loop; nil while none is.
    var current: pthread_t?
    /// The loop's own thread.
    var own: pthread_t?
    var activity = Activity.works
    var isBorrowed = false
    /// The number of loans so far.
    var loans: UInt64 = 0
    /// When the last loan ended, in microseconds of `CLOCK_MONOTONIC`.
    var lastReturn: UInt64 = 0
    /// Whether the loop's own thread was told to become the loop.
    var isCalled = false

    var isCurrent: Bool { current.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// What the loop's own thread does.
  private enum Activity {
    case works
    /// It polls the connections.
    case polls
    /// Another thread has the loop, or had it a moment ago.
    case rests
    /// The same, for longer: it must be called at the end of the loan.
    case sleeps
  }

  private let state = Mutex(State())
  /// An eventfd that is written to when the loop's own thread is called. Never closed, like the loop.
  private let call: Int32

  package init(rest: UInt64 = 10_000) {
    self.rest = rest
    call = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(call >= 0, "no descriptor for the bus loop")
  }

  /// Whether the calling thread is the loop.
  package var isCurrent: Bool { state.withLock(\.isCurrent) }

  /// Whether a thread has borrowed the loop.
  package var isBorrowed: Bool { state.withLock(\.isBorrowed) }

  // MARK: The loop's own thread

  /// Makes the calling thread the loop, and the loop's own thread.
  package func take() {
    state.withLock { state in
      (state.current, state.own, state.activity) = (pthread_self(), pthread_self(), .works)
    }
  }

  /// Ends the calling thread's turn as the loop. Another one calls ``take()``.
  package func leave() { state.withLock { $0.current = nil } }

  /// Call it before polling. From now on the loop can be borrowed.
  ///
  /// - Returns: the number of loans so far; nil for a thread that has borrowed the loop.
  package func willPoll() -> UInt64? {
    state.withLock { state in
      guard !state.isBorrowed else { return nil }
      state.activity = .polls
      return state.loans
    }
  }

  /// Call it after polling on the loop's own thread. Waits until the thread is the loop again.
  ///
  /// - Returns: whether the loop was not borrowed meanwhile.
  package func hasPolled(since loans: UInt64) -> Bool {
    var seen: UInt64?
    while true {
      let (isLoop, deadline) = state.withLock { state -> (Bool, UInt64) in
        if !state.isBorrowed, state.activity == .polls || state.isCalled || LoopClock.now >= state.lastReturn + rest {
          (state.current, state.activity, state.isCalled) = (state.own, .works, false)
          return (true, 0)
        }
        let isLong = state.isBorrowed && seen == state.loans
        state.activity = isLong ? .sleeps : .rests
        seen = state.loans
        guard !isLong else { return (false, .max) }
        return (false, (state.isBorrowed ? LoopClock.now : state.lastReturn) + rest)
      }
      if isLoop { return state.withLock { $0.loans == loans } }
      waitForCall(until: deadline)
    }
  }

  private func waitForCall(until deadline: UInt64) {
    var called = pollfd(fd: call, events: Int16(POLLIN), revents: 0)
    poll(&called, 1, LoopClock.milliseconds(until: deadline))
    guard called.revents != 0 else { return }
    var count: UInt64 = 0
    read(call, &count, MemoryLayout<UInt64>.size)
  }

  /// Has the loop's own thread become the loop, if it rests and no other thread is the loop.
  ///
  /// - Returns: false if it does not rest.
  package func callOwnThread() -> Bool { state.withLock { callOwnThread(&$0) } }

  private func callOwnThread(_ state: inout State) -> Bool {
    guard !state.isBorrowed, state.activity == .rests || state.activity == .sleeps else { return false }
    state.isCalled = true
    var one: UInt64 = 1
    write(call, &one, MemoryLayout<UInt64>.size)
    return true
  }

  // MARK: Borrowing

  /// Makes the calling thread the loop, if the loop waits, or does so in a moment.
  package func borrow() -> Bool {
    // Often the loop's own thread has just received the answer to this thread's last call, and is about to wait again.
    for _ in 0..<20 {
      let isLent: Bool? = state.withLock { state in
        guard !state.isBorrowed else { return false }
        guard !state.isCalled, state.activity != .works else { return nil }
        (state.current, state.isBorrowed) = (pthread_self(), true)
        state.loans += 1
        return true
      }
      if let isLent { return isLent }
      sched_yield()
    }
    return false
  }

  /// Ends the loan of the calling thread, if it is the loop.
  ///
  /// - Parameter mayRest: whether the loop's own thread may rest. Not if somebody waits for an answer.
  package func giveBack(mayRest: Bool) {
    state.withLock { state in
      guard state.isBorrowed, state.isCurrent else { return }
      (state.isBorrowed, state.lastReturn) = (false, LoopClock.now)
      // A thread that still polls since before the loan goes on with that.
      state.current = state.activity == .polls ? state.own : nil
      if !mayRest || state.activity == .sleeps { _ = callOwnThread(&state) }
    }
  }
}

/// The clock of the bus loop's deadlines.
package enum LoopClock {
  /// The time that deadlines are measured in: microseconds of `CLOCK_MONOTONIC`.
  package static var now: UInt64 { SystemClock.awake.nanoseconds / 1_000 }

  /// The timeout for `poll(2)`.
  static func milliseconds(until deadline: UInt64) -> Int32 {
    guard deadline != .max else { return -1 }
    let now = now
    return deadline <= now ? 0 : Int32(clamping: (deadline - now) / 1_000 + 1)
  }
}
