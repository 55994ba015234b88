import Glibc
internal import Primitives

/// The clocks that nobody can set: time since boot, and the name of this boot.
package struct BootClock: Sendable {
  /// The kernel's random id of this boot.
  package var bootID: @Sendable () -> String
  /// Nanoseconds of `CLOCK_BOOTTIME`, sleep included: the age of something this process has seen.
  package var now: @Sendable () -> UInt64
  /// Nanoseconds the machine has been awake, the same for every process: what passcode delays are measured with.
  ///
  /// A time namespace (`time_namespaces(7)`) shifts `CLOCK_MONOTONIC` and `CLOCK_BOOTTIME` for the programs in it, so
  /// that a delay counted in those could be skipped with `unshare -T`.
  package var awake: @Sendable () -> UInt64

  /// - Parameter awake: nil for a clock of tests that knows no sleep.
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
      // Without an id every look is a new boot: delays run again, never out.
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
