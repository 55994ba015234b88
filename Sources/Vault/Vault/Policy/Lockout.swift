/// The count of touches and passcodes that were wrong, and what follows from it. Pure: the caller makes it durable.
struct Lockout: Equatable {
  /// Non-matches in a row that lock biometry (the rule of LocalAuthentication).
  static let limit: UInt32 = 5
  /// Non-matches that end one request.
  static let perRequest = 3

  /// Touches in a row that matched nobody, the armed one counted ahead.
  var failures: UInt32 = 0
  /// The scan that is armed now and already counted; names it, so that only its owner can give the charge back.
  var pending: [UInt8] = []
  var passcodeFailures: UInt32 = 0
  /// The boot during which the delay was started; empty when there is none.
  var delayBoot = ""
  /// The reading of ``BootClock/awake`` before which no passcode is tried, during that boot.
  var delayUntil: UInt64 = 0

  var lockedOut: Bool { failures >= Self.limit }
  /// Touches that may still match nobody before it locks.
  var remaining: Int { Int(Self.limit - min(failures, Self.limit)) }

  /// Counts a scan before it starts, so that no crash can make it free.
  mutating func arm(_ nonce: [UInt8]) throws(VaultError) {
    guard !lockedOut else { throw .biometryLockout }
    failures += 1
    pending = nonce
  }

  /// The touch matched: the row of failures is broken.
  mutating func matched() {
    failures = 0
    pending = []
  }

  /// The touch matched nobody. The charge stays; where a passcode has cleared it meanwhile, it is made again.
  mutating func failed(_ nonce: [UInt8]) {
    if pending != nonce { failures += 1 }
    pending = []
  }

  /// The scan ended without an answer, with the reader alive: nobody has learnt anything.
  mutating func refund(_ nonce: [UInt8]) {
    guard pending == nonce else { return }
    failures -= 1
    pending = []
  }

  /// The wrong passcodes in a row after which the delay is the longest.
  static let longestDelayFailures: UInt32 = 9

  /// Seconds of delay that follow this many wrong passcodes in a row.
  static func delay(after failures: UInt32) -> UInt64 {
    switch failures {
    case 0...4: 0
    case 5: 60
    case 6: 5 * 60
    case 7, 8: 15 * 60
    default: 60 * 60
    }
  }

  /// Whole seconds until a passcode is tried again, rounded up.
  func remainingDelay(_ clock: BootClock) -> Int {
    let full = Self.delay(after: passcodeFailures)
    guard full > 0 else { return 0 }
    // Under another boot the clock started anew, so nothing is known of the time that passed.
    guard delayBoot == clock.bootID() else { return Int(full) }
    let now = clock.awake()
    guard delayUntil > now else { return 0 }
    return Int((delayUntil - now + 999_999_999) / 1_000_000_000)
  }

  /// Whether the delay was started under another boot and has to be started again.
  func needsNewDelay(_ clock: BootClock) -> Bool {
    Self.delay(after: passcodeFailures) > 0 && delayBoot != clock.bootID()
  }

  /// Starts the whole delay now.
  mutating func startDelay(_ clock: BootClock) {
    delayBoot = clock.bootID()
    delayUntil = clock.awake() + Self.delay(after: passcodeFailures) * 1_000_000_000
  }

  /// Counts a passcode as wrong before it is tried, so that no crash can make it free.
  mutating func chargePasscode(_ clock: BootClock) {
    passcodeFailures += 1
    startDelay(clock)
  }

  /// The record of the counts is gone, or cannot be told from an older one: fingers are locked out, and the longest
  /// delay runs in full from when a passcode is next asked for.
  mutating func assumeWorst() {
    failures = max(failures, Self.limit)
    passcodeFailures = max(passcodeFailures, Self.longestDelayFailures)
    delayBoot = ""
  }

  /// The passcode (or the recovery key) was right: everything starts afresh.
  mutating func clear() {
    self = Lockout()
  }
}
