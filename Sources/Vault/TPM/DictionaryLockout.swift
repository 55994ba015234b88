/// The state of a TPM's dictionary lockout, which all users and programs of the machine share.
package struct DictionaryLockout: Sendable, Hashable {
  /// Wrong authorization values that count now.
  package let failures: UInt32
  /// The TPM locks itself at this many.
  package let limit: UInt32
  /// After this many seconds one failure is forgotten.
  package let interval: UInt32
  package let isLockedOut: Bool

  package init(failures: UInt32, limit: UInt32, interval: UInt32, isLockedOut: Bool) {
    self.failures = failures
    self.limit = limit
    self.interval = interval
    self.isLockedOut = isLockedOut
  }

  /// Whether one more wrong value would leave the TPM unlocked.
  package var hasRoom: Bool { !isLockedOut && failures + 1 < limit }
}
