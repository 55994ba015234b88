internal import Glibc

/// The clock that a scan is dated by, in the reader process and in the vault.
package enum ScanClock {
  /// Nanoseconds of `CLOCK_BOOTTIME`, which goes on while the machine sleeps, so that a touch grows old meanwhile.
  package static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
