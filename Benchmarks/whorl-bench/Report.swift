import FoundationEssentials

/// A performance promise, and the number that shows whether it is kept.
struct Promise: Encodable {
  var text: String
  /// The limit, in `unit`.
  var atMost: Double
  var measured: Double
  /// The unit; `x` for the ratio of two medians.
  var unit: String

  var isKept: Bool { measured <= atMost }

  private enum Key: String, CodingKey {
    case promise, atMost, measured, unit, kept
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(text, forKey: .promise)
    try values.encode(atMost, forKey: .atMost)
    try values.encode(measured, forKey: .measured)
    try values.encode(unit, forKey: .unit)
    try values.encode(isKept, forKey: .kept)
  }
}

/// All results of one run.
struct Report: Encodable {
  private struct Line: Encodable {
    var name: String
    /// In milliseconds.
    var median: Double
    var p10: Double
    var p90: Double
    var count: Int
  }

  private(set) var promises: [Promise] = []
  private var times: [Line] = []

  mutating func add(_ samples: Samples) {
    times.append(
      Line(
        name: samples.name, median: samples.median / 1e6, p10: samples.percentile(0.1) / 1e6,
        p90: samples.percentile(0.9) / 1e6, count: samples.nanoseconds.count))
  }

  mutating func promise(_ text: String, _ measured: Double, atMost: Double, _ unit: String = "x") {
    promises.append(Promise(text: text, atMost: atMost, measured: measured, unit: unit))
  }

  /// Both tables as text.
  var text: String {
    var lines = [Self.row(["what was timed", "median", "p10", "p90", "runs"], times.map(\.name))]
    for time in times {
      lines.append(
        Self.row(
          [time.name, Self.milliseconds(time.median), Self.milliseconds(time.p10), Self.milliseconds(time.p90)]
            + ["\(time.count)"], times.map(\.name)))
    }
    lines.append("")
    lines.append(Self.row(["promise", "measured", "at most", ""], promises.map(\.text)))
    for promise in promises {
      let unit = promise.unit == "x" ? "" : " \(promise.unit)"
      lines.append(
        Self.row(
          [promise.text, Self.short(promise.measured) + unit, Self.short(promise.atMost) + unit]
            + [promise.isKept ? "ok" : "MISS"], promises.map(\.text)))
    }
    return lines.joined(separator: "\n")
  }

  private static func row(_ cells: [String], _ firsts: [String]) -> String {
    let width = (firsts.map(\.count).max() ?? 0) + 2
    let head = cells[0] + String(repeating: " ", count: max(1, width - cells[0].count))
    return head + cells.dropFirst().map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
  }

  private static func milliseconds(_ value: Double) -> String { "\(short(value)) ms" }

  /// Three significant digits.
  private static func short(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    let scale = value < 1 ? 1000.0 : value < 10 ? 100.0 : value < 100 ? 10.0 : 1.0
    let rounded = (value * scale).rounded() / scale
    return scale == 1 ? "\(Int(rounded))" : "\(rounded)"
  }

  func writeJSON(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    try encoder.encode(self).write(to: URL(filePath: path))
  }
}
