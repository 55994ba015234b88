internal import Primitives

/// The clock for the times of scans, in the reader process and in the vault.
package enum ScanClock {
  /// Nanoseconds since the machine started. The clock includes sleep, so that a touch expires meanwhile.
  package static func now() -> UInt64 { SystemClock.sinceBoot.nanoseconds }
}
