internal import Primitives

/// The clock of the bus loop's deadlines.
package enum LoopClock {
  /// The time that deadlines are measured in: microseconds of `CLOCK_MONOTONIC`.
  package static var now: UInt64 { SystemClock.awake.nanoseconds / 1_000 }

  /// The timeout for `poll(2)`.
  static func milliseconds(until deadline: UInt64) -> Int32 {
    guard deadline != .max else { return -1 }
    let now = now
    return deadline <= now ? 0 : Int32(clamping: (deadline - now) / 1_000 + 1)
  }
}
