internal import Synchronization

/// How many refused calls of a user get a line in the journal. Any program can make such calls at any rate, and the journal
/// leaves out all lines of a service that writes too many, also those about other users.
package final class RefusalLines: Sendable {
  /// The most lines for one user in a minute.
  package static let limit = 10
  private static let minute = Duration.seconds(60)

  /// For all connections of the process.
  package static let shared = RefusalLines()

  private struct State {
    var begin = ContinuousClock.now
    var counts: [UInt32: Int] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// What the journal gets for one more refused call of a user.
  package enum Answer: Sendable, Hashable {
    case line
    /// The line that ends them for this minute.
    case lastLine
    case nothing
  }

  package func answer(to user: UInt32, at now: ContinuousClock.Instant = .now) -> Answer {
    state.withLock { state in
      if now - state.begin >= Self.minute { state = State(begin: now) }
      let count = state.counts[user, default: 0] + 1
      guard count <= Self.limit else { return .nothing }
      state.counts[user] = count
      return count == Self.limit ? .lastLine : .line
    }
  }
}
