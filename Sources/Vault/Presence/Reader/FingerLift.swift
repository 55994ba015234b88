import Primitives
import Synchronization

/// Tracks by a scan's events whether a finger was on the sensor and has left it.
final class FingerLift: Sendable {
  /// If it is unknown when a finger was lifted, it counts as lifted after this many nanoseconds.
  static let assumedAfter: UInt64 = 1_000_000_000
  /// How many nanoseconds a reader that reports no fingers may take to answer a touch.
  static let answersWithin: UInt64 = 1_000_000_000

  private struct State {
    /// Whether the reader has asked for a finger. Drivers that do so also report the finger.
    var asked = false
    /// Whether a finger may have been there unreported.
    var possible = false
    var seen = false
    var lifted = false
    /// Whether the scan was cancelled before the reader was told of it.
    var neverBegan = false
  }

  private let state = Mutex(State())
  private let clock: @Sendable () -> UInt64

  /// - Parameter clock: returns nanoseconds since boot; tests pass their own.
  init(clock: @escaping @Sendable () -> UInt64 = ScanClock.now) { self.clock = clock }

  /// Waits until the clock shows that a moment is so many nanoseconds ago, or the task is cancelled. Does not wait for a
  /// moment that is to come, since the clock has then begun anew.
  static func wait(for duration: UInt64, since moment: UInt64, by clock: @Sendable () -> UInt64) async {
    while !Task.isCancelled {
      let now = clock()
      guard moment <= now, now - moment < duration else { return }
      try? await Pause.wait(for: .nanoseconds(duration - (now - moment)))
    }
  }

  func note(_ event: ScanEvent) {
    state.withLock {
      switch event {
      case .fingerNeeded: $0.asked = true
      case .fingerPossible: $0.possible = true
      case .fingerPresent: ($0.seen, $0.lifted) = (true, false)
      case .fingerLifted: $0.lifted = true
      default: break
      }
    }
  }

  /// Whether a finger has been on the sensor since the scan was armed, or could have been there unreported.
  var wasThere: Bool { state.withLock { $0.seen || $0.possible } }

  /// Whether a finger was seen, and has been lifted.
  private var isLifted: Bool { state.withLock { $0.seen && $0.lifted } }

  /// Whether the finger is known to be off the sensor: it was lifted, or there was none.
  var isOff: Bool { state.withLock { $0.seen ? $0.lifted : $0.neverBegan || $0.asked && !$0.possible } }

  /// Waits until the finger has been lifted, at most until `limit`; one second if the reader has reported no finger.
  func lifted(within limit: Duration?) async {
    let clock = ContinuousClock()
    let start = clock.now
    while !isLifted, !Task.isCancelled {
      let waited = start.duration(to: clock.now)
      let wasSeen = state.withLock { $0.seen }
      guard waited < (wasSeen ? limit ?? .seconds(60) : .nanoseconds(Self.assumedAfter)) else { return }
      try? await Pause.wait(for: .milliseconds(20))
    }
  }

  /// Runs a scan. If it is cancelled on a reader that reports no fingers, the reader gets a second to answer a touch that
  /// it may just have had. A touch that does not match then counts as seen, and without an answer there was no touch.
  /// No match is accepted any more.
  func followed(_ scan: @escaping @Sendable () async throws -> ScanAnswer) async throws -> ScanAnswer {
    guard !Task.isCancelled else {
      state.withLock { $0.neverBegan = true }
      throw ReaderError.cancelled
    }
    let running = Task(executorPreference: BackgroundThread.shared, operation: scan)
    let result = await withTaskCancellationHandler {
      await running.result
    } onCancel: {
      guard state.withLock({ $0.possible }) else { return running.cancel() }
      let clock = clock
      Task(executorPreference: BackgroundThread.shared) {
        await Self.wait(for: Self.answersWithin, since: clock(), by: clock)
        running.cancel()
      }
    }
    guard Task.isCancelled, state.withLock({ $0.possible }) else { return try result.get() }
    switch result {
    case .success(let answer):
      state.withLock { $0.possible = false }
      if answer.outcome == .noMatch { note(.fingerPresent) }
    case .failure(ReaderError.cancelled): state.withLock { $0.possible = false }
    // The end of the reader, or sleep: a finger may have been there.
    case .failure(let error): throw error
    }
    throw ReaderError.cancelled
  }
}
