/// Counts failed touches and wrong passcodes, and decides on lockout and delay. A plain value: the caller stores it.
package struct Lockout: Equatable {
  /// Non-matches in a row that lock biometry (the rule of LocalAuthentication).
  static let limit: UInt32 = 5
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
