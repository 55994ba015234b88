import Glibc
import Primitives
import ProgramDriver
import Testing
import VirtualFinger

@Suite("Prompts that are replaced on a terminal")
struct NarrowTerminalTests {
  /// The screen after these characters. Supports only the control sequences that Whorl writes.
  private func screen(_ text: String, columns: Int) -> [String] {
    var rows: [[Character]] = [[]]
    var (row, column) = (0, 0)
    var rest = Substring(text)
    while let character = rest.unicodeScalars.first.map(Character.init) {
      if let sequence = rest.prefixMatch(of: /\u{1B}\[([0-9]*)([AJK])/) {
        rest = rest[sequence.range.upperBound...]
        switch sequence.2 {
        case "A": row -= Int(sequence.1) ?? 1
        case "J": rows.removeSubrange((row + 1)...)
        default: break
        }
        if sequence.2 != "A" { rows[row].removeSubrange(min(column, rows[row].count)...) }
        continue
      }
      rest.unicodeScalars.removeFirst()
      switch character {
      case "\r": column = 0
      case "\n":
        row += 1
        if row == rows.count { rows.append([]) }
      default:
        if column == columns {
          (row, column) = (row + 1, 0)
          if row == rows.count { rows.append([]) }
        }
        if column < rows[row].count { rows[row][column] = character } else { rows[row].append(character) }
        column += 1
      }
    }
    return rows.map { String($0) }.filter { !$0.isEmpty }
  }

  private func cancelled(_ store: TestStore, _ environment: [String: String], columns: UInt16) async throws -> String {
    let words = ["get", "any-finger", "--reason", "send the report of this week to everybody who asked for it"]
    let terminal = try PseudoTerminal(
      store.arguments(words + store.reader), output: "/dev/null", environment: environment, columns: columns)
    try await terminal.waits(for: "cancel)")
    let reader = VirtualImageReader(socket: store.socket, patience: .seconds(10))
    // The driver is ready a moment after the prompt is shown.
    for _ in 1...100 where !terminal.shown.contains("Too short") {
      try? reader.retry(.tooShort)
      try await Task.sleep(for: .milliseconds(100))
    }
    try await terminal.waits(for: "Too short")
    try await terminal.becomes(echoing: false)
    terminal.type(CancelKey.escape.rawValue)
    #expect(try await terminal.status() == 77)
    return terminal.shown
  }

  @Test("replaced prompts leave nothing on a terminal, however narrow it is", arguments: [20, 40, 133, 400])
  func narrow(_ columns: UInt16) async throws {
    try await TestStore.enrolled { store in
      let shown = try await cancelled(store, [:], columns: columns)
      let left = screen(shown, columns: Int(columns)).joined()
      #expect(left == "whorl: get: cancelled: run it again", "\(shown.debugDescription)")
    }
  }

  @Test("prompts are plain lines on a terminal without escape sequences", arguments: ["dumb", ""])
  func dumb(_ name: String) async throws {
    try await TestStore.enrolled { store in
      let shown = try await cancelled(store, ["TERM": name], columns: 40)
      #expect(!shown.contains("\u{1B}"), "\(shown.debugDescription)")
      #expect(shown.contains("cancel)\r\n"), "\(shown.debugDescription)")
    }
  }
}
