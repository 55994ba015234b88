import Glibc
import Primitives

/// The durations of one operation, in nanoseconds, in the order they were measured.
struct Samples {
  var name: String
  var nanoseconds: [UInt64] = []

  var median: Double { percentile(0.5) }

  func percentile(_ share: Double) -> Double {
    guard !nanoseconds.isEmpty else { return .nan }
    let sorted = nanoseconds.sorted()
    let at = share * Double(sorted.count - 1)
    let low = Int(at)
    let high = min(low + 1, sorted.count - 1)
    return Double(sorted[low]) + (Double(sorted[high]) - Double(sorted[low])) * (at - Double(low))
  }

  /// Measures `body` `count` times, after one run that is not counted.
  static func taking(_ name: String, _ count: Int, _ body: () throws -> Void) rethrows -> Samples {
    var samples = Samples(name: name)
    try body()
    for _ in 0..<count { try samples.take(body) }
    return samples
  }

  /// Measures `body` once more.
  mutating func take(_ body: () async throws -> Void) async rethrows {
    let start = ScanClock.now()
    try await body()
    nanoseconds.append(ScanClock.now() - start)
  }

  /// Measures `body` once more.
  mutating func take(_ body: () throws -> Void) rethrows {
    let start = ScanClock.now()
    try body()
    nanoseconds.append(ScanClock.now() - start)
  }
}
