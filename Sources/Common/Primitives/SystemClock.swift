internal import CLinux
internal import Glibc

/// The clocks of the kernel, as numbers that can cross to another process.
package enum SystemClock {
  /// `CLOCK_MONOTONIC`: the time the machine has been awake since it started.
  case awake
  /// `CLOCK_BOOTTIME`: the time since the machine started, sleep included.
  case sinceBoot
  /// `CLOCK_REALTIME`: the time since 1970, which the administrator can set.
  case calendar

  /// The clock's reading in nanoseconds.
  package var nanoseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(identifier, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  private var identifier: clockid_t {
    switch self {
    case .awake: CLOCK_MONOTONIC
    case .sinceBoot: CLOCK_BOOTTIME
    case .calendar: CLOCK_REALTIME
    }
  }
}
