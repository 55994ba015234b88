import Glibc
internal import Primitives

/// Clocks that cannot be set: the time since boot, and the id of this boot.
package struct BootClock: Sendable {
  /// The kernel's random id of this boot.
  package var bootID: @Sendable () -> String
  /// Nanoseconds of `CLOCK_BOOTTIME`, sleep included, to measure ages within this process.
  package var now: @Sendable () -> UInt64
  /// Nanoseconds that the machine has been awake, the same for every process. Used for passcode delays.
  ///
  /// Not `CLOCK_MONOTONIC` or `CLOCK_BOOTTIME`: a time namespace (`time_namespaces(7)`) shifts them, so that `unshare
  /// -T` could skip a delay.
  package var awake: @Sendable () -> UInt64

  /// - Parameter awake: nil for a test's clock, which ignores sleep.
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
      // Without an id, each process counts as a new boot: delays restart and are not skipped.
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
