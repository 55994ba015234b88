import Glibc

/// A clock that nobody can set back: nanoseconds since boot, sleep included, and the name of this boot.
package struct BootClock: Sendable {
  /// The kernel's random id of this boot.
  package var bootID: @Sendable () -> String
  /// Nanoseconds of `CLOCK_BOOTTIME`.
  package var now: @Sendable () -> UInt64

  package init(bootID: @escaping @Sendable () -> String, now: @escaping @Sendable () -> UInt64) {
    self.bootID = bootID
    self.now = now
  }

  package static let system = BootClock(
    bootID: {
      let descriptor = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      // Without an id every look is a new boot: delays run again, never out.
      guard descriptor >= 0 else { return "unknown-\(getpid())" }
      defer { Glibc.close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 36)
      guard read(descriptor, &bytes, 36) == 36 else { return "unknown-\(getpid())" }
      return String(decoding: bytes, as: UTF8.self)
    },
    now: { nanoseconds(of: CLOCK_BOOTTIME) })
}

/// The reading of a system clock in nanoseconds.
func nanoseconds(of clock: clockid_t) -> UInt64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
