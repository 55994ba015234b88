/// How a command tells what it waits for: one line that changes on a terminal, a line for each change elsewhere.
///
/// Rules: standard error only; no colour; what is said is complete without the lines before it.
struct ProgressLine: ~Copyable {
  private let live: Bool
  private var shown = ""

  init(live: Bool = StandardError.isTerminal) {
    self.live = live
  }

  /// Says what is awaited, in place of what was said last; once, as long as it stays the same.
  mutating func show(_ text: String) {
    if text != shown { tell(text) }
  }

  /// Says what has happened, in place of what was said last.
  mutating func tell(_ words: String) {
    let text = Visible.text(words)
    if live {
      // Back to the first column, clear the line, write.
      StandardError.write("\r\u{1B}[K\(text)")
    } else {
      StandardError.line(text)
    }
    shown = words
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
