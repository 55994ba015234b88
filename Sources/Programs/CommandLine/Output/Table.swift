internal import PromptTexts

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
