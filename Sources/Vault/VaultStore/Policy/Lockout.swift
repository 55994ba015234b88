import Glibc
internal import Primitives
internal import SecretModel

/// Counts failed touches and wrong passcodes, and decides on lockout and delay. A plain value: the caller stores it.
package struct Lockout: Equatable {
  /// Non-matches in a row that lock biometry (the rule of LocalAuthentication). The text of `VaultError.biometryLockout` and the
  /// help of `whorl unlock` say it in words.
  static let limit = UInt32(VaultStatus.failureLimit)
  /// The number of non-matches that end one request.
  package static let perRequest = 3
  /// The number of unreadable touches that end one request. They do not count as failures, so without this limit a
  /// reader that reports nothing else would never end the request, and all others would wait.
  package static let unreadablePerRequest = 10

  /// Touches in a row that did not match. An armed scan is counted in advance.
  package var failures: UInt32 = 0
  /// The nonce of the armed scan, which is counted already. Only that scan can refund the charge.
  var pending: [UInt8] = []
  /// Wrong passcodes in a row.
  package var passcode = Tries()

  package var lockedOut: Bool { failures >= Self.limit }
  /// How many more touches may fail before biometry is locked.
  package var remaining: Int { Int(Self.limit - min(failures, Self.limit)) }

  /// Counts a scan before it starts, so that a crash does not make it free.
  package mutating func arm(_ nonce: [UInt8]) throws(VaultError) {
    guard !lockedOut else { throw .biometryLockout }
    failures += 1
    pending = nonce
  }

  /// Clears the count after a match.
  package mutating func matched() {
    failures = 0
    pending = []
  }

  /// Keeps the charge after a non-match. If a passcode has cleared it meanwhile, charges again.
  package mutating func failed(_ nonce: [UInt8]) {
    if pending != nonce { failures += 1 }
    pending = []
  }

  /// Takes back the charge of a scan that ended without an answer while the reader process was running, and so revealed
  /// nothing.
  package mutating func refund(_ nonce: [UInt8]) {
    guard pending == nonce else { return }
    failures -= 1
    pending = []
  }

  /// For a lost record, or one that may be outdated: locks out fingers, and starts the longest delay when a passcode is
  /// next asked for.
  mutating func assumeWorst() {
    assumeWorstOfTouches()
    passcode.assumeWorst()
  }

  /// For a count of touches that may be outdated: locks out fingers.
  mutating func assumeWorstOfTouches() { failures = max(failures, Self.limit) }

  /// Takes the counts of another record where they are higher.
  mutating func raise(touches: UInt32, passcodes: UInt32) {
    failures = max(failures, touches)
    guard passcodes > passcode.failures else { return }
    passcode.failures = passcodes
    // Without a boot id, the delay starts when a passcode is next asked for.
    passcode.boot = ""
  }

  /// Clears all counts after the right passcode or recovery key.
  package mutating func clear() {
    self = Lockout()
  }
}

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

/// A secret that could be guessed, so wrong tries are counted.
package enum Guessable {
  case passcode
  /// The application password of the item with this id. Each item has a count of its own. With a shared count, the
  /// right password of one item would clear the failures of another.
  case applicationPassword(item: [UInt8])

  /// The error of a try during a delay.
  func delayed(_ seconds: Int) -> VaultError {
    switch self {
    case .passcode: .passcodeDelayed(seconds: seconds)
    case .applicationPassword: .applicationPasswordDelayed(seconds: seconds)
    }
  }
}

/// Clocks that cannot be set: the time since boot, and the id of this boot.
package struct BootClock: Sendable {
  /// The kernel's random id of this boot.
  package var bootID: @Sendable () -> String
  /// Nanoseconds of `CLOCK_BOOTTIME`, sleep included, to measure ages within this process.
  package var now: @Sendable () -> UInt64
  /// Nanoseconds that the machine has been awake, the same for every process. Used for passcode delays.
  ///
  /// Not `CLOCK_MONOTONIC` or `CLOCK_BOOTTIME`: a time namespace (`time_namespaces(7)`) shifts them, so that `unshare
  /// -T` could skip a delay.
  package var awake: @Sendable () -> UInt64

  /// - Parameter awake: nil for a test's clock, which ignores sleep.
  package init(
    bootID: @escaping @Sendable () -> String, now: @escaping @Sendable () -> UInt64,
    awake: (@Sendable () -> UInt64)? = nil
  ) {
    self.bootID = bootID
    self.now = now
    self.awake = awake ?? now
  }

  package static let system = BootClock(
    bootID: {
      let descriptor = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      // Without an id, each process counts as a new boot: delays restart and are not skipped.
      guard descriptor >= 0 else { return "unknown-\(getpid())" }
      defer { Glibc.close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 36)
      guard read(descriptor, &bytes, 36) == 36 else { return "unknown-\(getpid())" }
      return String(decoding: bytes, as: UTF8.self)
    },
    now: { SystemClock.sinceBoot.nanoseconds },
    awake: {
      // times(2) counts the kernel's timer ticks from boot on, in 1/_SC_CLK_TCK of a second; time namespaces do not
      // shift them. The processor times it also fills in are not used.
      var unused = tms()
      let perSecond = UInt64(max(1, sysconf(Int32(_SC_CLK_TCK))))
      return UInt64(bitPattern: Int64(times(&unused))) &* (1_000_000_000 / perSecond)
    })
}
