internal import Primitives

/// The clock that a scan is dated by, in the reader process and in the vault.
package enum ScanClock {
  /// Nanoseconds since the machine started. The clock goes on while the machine sleeps, so that a touch grows old
  /// meanwhile.
  package static func now() -> UInt64 { SystemClock.sinceBoot.nanoseconds }
}
