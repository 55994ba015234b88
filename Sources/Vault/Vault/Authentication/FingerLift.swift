import Fingerprint
import Synchronization

/// Knows from a scan's events whether a finger came to the sensor and has left it.
final class FingerLift: Sendable {
  /// After this many nanoseconds a finger counts as lifted where the reader cannot tell.
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

  /// Returns when the finger has been lifted, or after a second where the reader did not tell of a finger at all. A
  /// finger that rests is waited for until `limit`.
  func lifted(within limit: Duration?) async {
    let clock = ContinuousClock()
    let start = clock.now
    while !isLifted, !Task.isCancelled {
      let waited = start.duration(to: clock.now)
      guard waited < (wasSeen ? limit ?? .seconds(60) : .nanoseconds(Self.assumedAfter)) else { return }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// When something last happened while an action runs, so that its timeout is that of the next touch.
final class Activity: Sendable {
  private let last = Mutex(ContinuousClock.now)

  func note() { last.withLock { $0 = .now } }

  /// How long nothing has happened.
  var idle: Duration { last.withLock { $0 }.duration(to: .now) }
}
