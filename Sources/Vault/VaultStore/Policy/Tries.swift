/// Counts wrong tries in a row for one secret, and computes the delay after them. A plain value: the caller stores it.
package struct Tries: Equatable {
  package var failures: UInt32 = 0
  /// The id of the boot in which the delay was started; empty without a delay.
  var boot = ""
  /// The end of the delay in that boot, by ``BootClock/awake``.
  var until: UInt64 = 0

  package init(failures: UInt32 = 0, boot: String = "", until: UInt64 = 0) {
    self.failures = failures
    self.boot = boot
    self.until = until
  }

  /// The number of wrong tries from which the delay is the longest.
  static let longestDelayFailures: UInt32 = 9

  /// The delay after this many wrong tries in a row, in seconds.
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
  package func remainingDelay(_ clock: BootClock) -> Int {
    let full = Self.delay(after: failures)
    guard full > 0 else { return 0 }
    // After a reboot the clock has restarted, so the time that has passed is unknown.
    guard boot == clock.bootID() else { return Int(full) }
    let now = clock.awake()
    guard until > now else { return 0 }
    let left = until - now
    return Int(left / 1_000_000_000) + (left % 1_000_000_000 > 0 ? 1 : 0)
  }

  /// Whether the delay was started in another boot and must be restarted.
  func needsNewDelay(_ clock: BootClock) -> Bool { Self.delay(after: failures) > 0 && boot != clock.bootID() }

  /// Starts the delay in full.
  mutating func startDelay(_ clock: BootClock) {
    boot = clock.bootID()
    until = clock.awake() + Self.delay(after: failures) * 1_000_000_000
  }

  /// Counts a try as wrong before it is made, so that a crash does not make it free.
  mutating func charge(_ clock: BootClock) {
    // A count from a backup may be any number: do not overflow.
    failures = max(failures, failures &+ 1)
    startDelay(clock)
  }

  /// For an unknown count: the longest delay starts in full at the next try.
  mutating func assumeWorst() {
    failures = max(failures, Self.longestDelayFailures)
    boot = ""
  }
}
