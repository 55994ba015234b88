// What a command writes: lines, tables, JSON, items in words, and its failure.

import FoundationEssentials
import Glibc
internal import Prompts
internal import SecretModel
package import Settings

/// Standard error, for everything but the result.
package enum StandardError {
  package static let isTerminal = isatty(STDERR_FILENO) == 1

  /// Ignores errors: there is nowhere to report them.
  package static func write(_ text: String) {
    _ = writeAll(text, to: STDERR_FILENO)
  }

  package static func line(_ text: String) {
    write(text + "\n")
  }
}

/// Standard output, for the result only.
package enum StandardOutput {
  package static let isTerminal = isatty(STDOUT_FILENO) == 1

  package static func write(_ text: String) throws(Failure) {
    if let code = writeAll(text, to: STDOUT_FILENO) { throw .cannotWrite(code) }
  }

  package static func line(_ text: String) throws(Failure) {
    try write(text + "\n")
  }

  /// A line for each name and what is said of it, which begins in the same column.
  package static func columns(_ lines: [(name: String, words: String)]) throws(Failure) {
    let width = lines.map(\.name.count).max() ?? 0
    let text = lines.map { name, words in
      "\(name)\(String(repeating: " ", count: width - name.count + 2))\(Visible.text(words))\n"
    }
    try write(text.joined())
  }
}

extension Failure {
  package static func cannotRead(_ what: String, _ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot read \(what): \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "see where it is redirected from")
  }

  package static func cannotWrite(_ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot write: \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "see where the output goes, and whether there is room")
  }
}

/// Rows for standard output: aligned below a header on a terminal, separated by tabs elsewhere.
package struct Table {
  private var rows: [[String]] = []

  package init() {}

  package mutating func add(_ row: [String]) {
    rows.append(row)
  }

  package func print(head: [String], aligned: Bool = StandardOutput.isTerminal) throws(Failure) {
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
package enum JSON {
  package static func text(_ value: some Encodable) throws(Failure) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw .defect(error)
    }
  }

  package static func print(_ value: some Encodable) throws(Failure) {
    try StandardOutput.line(text(value))
  }
}
