// What a command writes: lines, tables, JSON, items in words, and its failure.

import FoundationEssentials
import Glibc
internal import Prompts
import SecretModel
import Settings

/// Standard error, for everything but the result.
enum StandardError {
  static let isTerminal = isatty(STDERR_FILENO) == 1

  /// Ignores errors: there is nowhere to report them.
  static func write(_ text: String) {
    _ = writeAll(text, to: STDERR_FILENO)
  }

  static func line(_ text: String) {
    write(text + "\n")
  }
}

/// Standard output, for the result only.
enum StandardOutput {
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  static func write(_ text: String) throws(Failure) {
    if let code = writeAll(text, to: STDOUT_FILENO) { throw .cannotWrite(code) }
  }

  static func line(_ text: String) throws(Failure) {
    try write(text + "\n")
  }

  /// A line for each name and what is said of it, which begins in the same column.
  static func columns(_ lines: [(name: String, words: String)]) throws(Failure) {
    let width = lines.map(\.name.count).max() ?? 0
    let text = lines.map { name, words in
      "\(name)\(String(repeating: " ", count: width - name.count + 2))\(Visible.text(words))\n"
    }
    try write(text.joined())
  }
}

extension Failure {
  static func cannotRead(_ what: String, _ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot read \(what): \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "see where it is redirected from")
  }

  static func cannotWrite(_ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot write: \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "see where the output goes, and whether there is room")
  }
}

/// Rows for standard output: aligned below a header on a terminal, separated by tabs elsewhere.
struct Table {
  private var rows: [[String]] = []

  mutating func add(_ row: [String]) {
    rows.append(row)
  }

  func print(head: [String], aligned: Bool = StandardOutput.isTerminal) throws(Failure) {
    guard !rows.isEmpty else { return }
    guard aligned else {
      let cells = StandardOutput.isTerminal ? rows.map { $0.map(Visible.text) } : rows
      return try StandardOutput.write(cells.map { $0.joined(separator: "\t") + "\n" }.joined())
    }
    let shown = ([head] + rows).map { $0.map(Visible.text) }
    let widths = head.indices.map { column in shown.map { $0[column].count }.max() ?? 0 }
    let lines = shown.map { row in
      var line = ""
      for (cell, width) in zip(row, widths).dropLast() {
        line += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      return line + (row.last ?? "") + "\n"
    }
    try StandardOutput.write(lines.joined())
  }
}

/// The JSON form of a result. Used only with `--json`.
enum JSON {
  static func text(_ value: some Encodable) throws(Failure) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw .defect(error)
    }
  }

  static func print(_ value: some Encodable) throws(Failure) {
    try StandardOutput.line(text(value))
  }
}

/// The form of a failure on standard error: one line for a person; with `--verbose` a second line with technical names;
/// with `--json` one object on one line.
struct FailureReport {
  private enum Form { case line, verbose, json }

  private let form: Form
  /// The command's name.
  var command: String?

  /// - Parameter words: the words of the command line. The form is needed even before, or without, successful parsing.
  init(_ words: [String] = []) {
    let own = words.prefix { $0 != "--" }
    form = own.contains("--json") ? .json : own.contains("--verbose") ? .verbose : .line
  }

  func tell(_ failure: Failure) {
    guard !failure.isTold else { return }
    switch form {
    case .line: StandardError.line(failure.line(command: command))
    case .verbose: StandardError.line("\(failure.line(command: command))\n\(Self.more(of: failure))")
    case .json:
      let text = try? JSON.text(Told(failure, command))
      StandardError.line(text ?? failure.line(command: command))
    }
  }

  private static func more(of failure: Failure) -> String {
    let parts = [failure.name, "exit status \(failure.status.rawValue)", failure.detail].compactMap(\.self)
    return Visible.text("whorl: " + parts.joined(separator: ", "))
  }

  private struct Told: Encodable {
    var error: String
    var advice: String?
    var detail: String?
    var name: String?
    var status: Int32
    var command: String?

    init(_ failure: Failure, _ command: String?) {
      (error, advice, detail) = (failure.what, failure.advice, failure.detail)
      (name, status, self.command) = (failure.name, failure.status.rawValue, command)
    }
  }
}
