import ArgumentParser
import Glibc

/// The times that `whorl log --since` takes.
enum LogTime {
  /// Seconds since 1970 of a time such as `30m`, `2h` and `3d` (ago), `2026-11-22` or `2026-11-22 09:00` (local time).
  static func seconds(_ word: String) throws -> Int64 {
    guard let seconds = ago(word) ?? day(word) else {
      throw ValidationError("--since takes 30m, 2h, 3d, 2026-11-22 or '2026-11-22 09:00'")
    }
    return seconds
  }

  private static func ago(_ word: String) -> Int64? {
    TimeSpan.seconds(word).map { Int64(time(nil)) - $0 }
  }

  private static func day(_ word: String) -> Int64? {
    let parts = word.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
    guard let date = numbers(parts[0], separator: "-", widths: [4, 2, 2]) else { return nil }
    var time = [0, 0]
    if parts.count == 2 {
      guard let given = numbers(parts[1], separator: ":", widths: [2, 2]) else { return nil }
      time = given
    }
    guard (1970...9999).contains(date[0]), (1...12).contains(date[1]), (1...31).contains(date[2]),
      (0...23).contains(time[0]), (0...59).contains(time[1])
    else { return nil }
    var moment = tm()
    (moment.tm_year, moment.tm_mon, moment.tm_mday) = (Int32(date[0] - 1900), Int32(date[1] - 1), Int32(date[2]))
    (moment.tm_hour, moment.tm_min) = (Int32(time[0]), Int32(time[1]))
    // Let the system determine whether daylight saving time applies.
    moment.tm_isdst = -1
    let seconds = mktime(&moment)
    return seconds == -1 ? nil : Int64(seconds)
  }

  private static func numbers(_ text: Substring, separator: Character, widths: [Int]) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == widths, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return nil }
    return parts.compactMap { Int($0) }
  }
}
