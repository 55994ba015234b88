import Executors
import Fingerprint
import Synchronization
import VaultStore

/// Tracks by a scan's events whether a finger was on the sensor and has left it.
final class FingerLift: Sendable {
  /// If the reader reports no fingers, a finger counts as lifted after this many nanoseconds.
  static let assumedAfter: UInt64 = 1_000_000_000

  private struct State {
    var seen = false
    var lifted = false
  }

  private let state = Mutex(State())

  func note(_ event: ScanEvent) {
    state.withLock {
      switch event {
      case .fingerPresent: ($0.seen, $0.lifted) = (true, false)
      case .fingerLifted: $0.lifted = true
      default: break
      }
    }
  }

  /// Whether a finger has been on the sensor since the scan was armed.
  var wasSeen: Bool { state.withLock { $0.seen } }

  /// Whether the finger is known to be off the sensor.
  var isLifted: Bool { state.withLock { $0.seen && $0.lifted } }

  /// Waits until the finger has been lifted, at most until `limit`; one second if the reader has reported no finger.
  func lifted(within limit: Duration?) async {
    let clock = ContinuousClock()
    let start = clock.now
    while !isLifted, !Task.isCancelled {
      let waited = start.duration(to: clock.now)
      guard waited < (wasSeen ? limit ?? .seconds(60) : .nanoseconds(Self.assumedAfter)) else { return }
      try? await Pause.wait(for: .milliseconds(20))
    }
  }
}

/// The time of the last event of an action, so that its timeout counts from there.
final class Activity: Sendable {
  private let end: ContinuousClock.Instant
  private let last = Mutex(ContinuousClock.now)

  /// - Parameter limit: how long events count. After it even a reader that keeps sending events runs into its timeout.
  init(countingFor limit: Duration = .seconds(600)) { end = .now + limit }

  func note() { last.withLock { $0 = min(.now, end) } }

  /// The time since the last event.
  var idle: Duration { last.withLock { $0 }.duration(to: .now) }
}
