/// A length of time as people write it: `30m`, `8h`, `3d`.
enum TimeSpan {
  private static let units: [Character: Int64] = ["m": 60, "h": 3_600, "d": 86_400]

  /// The seconds; nil for text of another form.
  static func seconds(_ word: String) -> Int64? {
    guard let unit = word.last.flatMap({ units[$0] }), let count = Int64(word.dropLast()), (0...100_000).contains(count)
    else { return nil }
    return count * unit
  }

  /// For people, rounded up: "3 d", "8 h" or "30 min".
  static func words(_ seconds: Double) -> String {
    for (size, unit) in [(86_400.0, "d"), (3_600, "h")] where seconds > 2 * size {
      return "\(Int((seconds / size).rounded(.up))) \(unit)"
    }
    return "\(Int((seconds / 60).rounded(.up))) min"
  }
}
