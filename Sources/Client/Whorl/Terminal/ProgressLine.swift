internal import Glibc

/// How a prompt tells what it waits for: one line that changes on a terminal, a line for each change elsewhere.
///
/// Rules: no colour; what is said is complete without the lines before it.
package struct ProgressLine: ~Copyable {
  private let descriptor: Int32
  private let live: Bool
  private var shown = ""

  /// On standard error: live where that is a terminal.
  package static func onStandardError() -> ProgressLine {
    ProgressLine(descriptor: STDERR_FILENO, live: isatty(STDERR_FILENO) == 1)
  }

  /// Where the lines go, which nobody is told of if it fails; and whether the last line may be replaced there.
  init(descriptor: Int32, live: Bool) { (self.descriptor, self.live) = (descriptor, live) }

  /// Says what is awaited, in place of what was said last; once, as long as it stays the same.
  package mutating func show(_ text: String) {
    if text != shown { tell(text) }
  }

  /// Says what has happened, in place of what was said last.
  package mutating func tell(_ words: String) {
    let text = Visible.text(words)
    // Back to the first column, clear the line, write.
    write(live ? "\r\u{1B}[K\(text)" : "\(text)\n")
    shown = words
  }

  /// Says something that stays.
  package mutating func keep(_ text: String) {
    let text = Visible.text(text)
    write(live && !shown.isEmpty ? "\r\u{1B}[K\(text)\n" : "\(text)\n")
    shown = ""
  }

  /// Leaves the cursor at the start of a line.
  package mutating func finish() {
    if live, !shown.isEmpty { write("\r\u{1B}[K") }
    shown = ""
  }

  private func write(_ text: String) { _ = writeAll(text, to: descriptor) }
}
