/// Wrong tries in a row at one secret that can be guessed, and the delay that follows from them. Pure: the caller makes it
/// durable.
struct Tries: Equatable {
  var failures: UInt32 = 0
  /// The boot during which the delay was started; empty when there is none.
  var boot = ""
  /// The reading of ``BootClock/awake`` before which nothing is tried, during that boot.
  var until: UInt64 = 0

  /// The wrong tries in a row after which the delay is the longest.
  static let longestDelayFailures: UInt32 = 9

  /// Seconds of delay that follow this many wrong tries in a row.
  static func delay(after failures: UInt32) -> UInt64 {
    switch failures {
    case 0...4: 0
    case 5: 60
    case 6: 5 * 60
    case 7, 8: 15 * 60
    default: 60 * 60
    }
  }

  /// Whole seconds until the next try, rounded up.
  func remainingDelay(_ clock: BootClock) -> Int {
    let full = Self.delay(after: failures)
    guard full > 0 else { return 0 }
    // Under another boot the clock started anew, so nothing is known of the time that passed.
    guard boot == clock.bootID() else { return Int(full) }
    let now = clock.awake()
    guard until > now else { return 0 }
    return Int((until - now + 999_999_999) / 1_000_000_000)
  }

  /// Whether the delay was started under another boot and has to be started again.
  func needsNewDelay(_ clock: BootClock) -> Bool { Self.delay(after: failures) > 0 && boot != clock.bootID() }

  /// Starts the whole delay now.
  mutating func startDelay(_ clock: BootClock) {
    boot = clock.bootID()
    until = clock.awake() + Self.delay(after: failures) * 1_000_000_000
  }

  /// Counts a try as wrong before it is made, so that no crash can make it free.
  mutating func charge(_ clock: BootClock) {
    failures += 1
    startDelay(clock)
  }

  /// What has been counted is not known: the longest delay runs in full from the next try on.
  mutating func assumeWorst() {
    failures = max(failures, Self.longestDelayFailures)
    boot = ""
  }
}
