internal import Primitives

/// A length of time as people write it: `30m`, `8h`, `3d`.
enum TimeSpan {
  private static let units: [Character: Int64] = ["m": 60, "h": 3_600, "d": 86_400]

  /// The seconds; nil for text of another form.
  static func seconds(_ word: String) -> Int64? {
    guard let unit = word.last.flatMap({ units[$0] }), let count = Int64(word.dropLast()), (0...100_000).contains(count)
    else { return nil }
    return count * unit
  }

  /// The seconds of a time in the format of `ssh-add -t` (sshd_config(5), "TIME FORMATS"): `600`, `10m`, `1h30m`. Nil
  /// for text of another form, and for more than 68 years.
  static func sshSeconds(_ word: String) -> Int64? {
    let units: [UInt8: Int64] = Dictionary(
      uniqueKeysWithValues: zip("smhdw".utf8, [1, 60, 3_600, 86_400, 604_800]))
    var (sum, rest): (Int64, Substring.UTF8View) = (0, word[...].utf8)
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard let count = Int64(Substring(digits)), count <= Int64(Int32.max) else { return nil }
      rest = rest.dropFirst(digits.count)
      // A number without a unit has seconds.
      guard let unit = rest.first.map({ units[$0 | 0x20] }) ?? 1 else { return nil }
      rest = rest.dropFirst()
      sum += count * unit
      guard sum <= Int64(Int32.max) else { return nil }
    }
    return sum
  }

  /// For people, rounded up: "3 d", "8 h" or "30 min".
  static func words(_ seconds: Double) -> String {
    for (size, unit) in [(86_400.0, "d"), (3_600, "h")] where seconds > 2 * size {
      return "\(Int(clamping: (seconds / size).rounded(.up))) \(unit)"
    }
    return "\(Int(clamping: (seconds / 60).rounded(.up))) min"
  }
}
