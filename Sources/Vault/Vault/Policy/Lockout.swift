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
  /// Passcodes in a row that were wrong.
  var passcode = Tries()

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

  /// The record of the counts is gone, or cannot be told from an older one: fingers are locked out, and the longest
  /// delay runs in full from when a passcode is next asked for.
  mutating func assumeWorst() {
    failures = max(failures, Self.limit)
    passcode.assumeWorst()
  }

  /// The passcode (or the recovery key) was right: everything starts afresh.
  mutating func clear() {
    self = Lockout()
  }
}
