/// How a command tells what it waits for: one line that changes on a terminal, a line for each change elsewhere.
///
/// Rules: standard error only; no colour; what is said is complete without the lines before it.
struct ProgressLine: ~Copyable {
  private let live: Bool
  private var shown = ""

  init(live: Bool = StandardError.isTerminal) {
    self.live = live
  }

  /// Says what is awaited or happening now, in place of what was said last.
  mutating func show(_ text: String) {
    guard text != shown else { return }
    let text = Visible.text(text)
    if live {
      // Back to the first column, clear the line, write.
      StandardError.write("\r\u{1B}[K\(text)")
    } else {
      StandardError.line(text)
    }
    shown = text
  }

  /// Says something that stays.
  mutating func keep(_ text: String) {
    let text = Visible.text(text)
    StandardError.write(live && !shown.isEmpty ? "\r\u{1B}[K\(text)\n" : "\(text)\n")
    shown = ""
  }

  /// Leaves the cursor at the start of a line.
  mutating func finish() {
    if live, !shown.isEmpty { StandardError.write("\r\u{1B}[K") }
    shown = ""
  }
}
