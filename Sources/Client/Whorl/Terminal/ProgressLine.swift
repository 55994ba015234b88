internal import Glibc

/// Shows the progress of a prompt: on a terminal one line that changes, elsewhere a new line for each change.
///
/// It uses no colour, and each line makes sense without the lines before it.
package struct ProgressLine: ~Copyable {
  private let descriptor: Int32
  private let live: Bool
  private var shown = ""

  /// On standard error: live where that is a terminal.
  package static func onStandardError() -> ProgressLine {
    ProgressLine(descriptor: STDERR_FILENO, live: isatty(STDERR_FILENO) == 1)
  }

  /// Writes to `descriptor` and ignores errors; `live` says whether the last line can be replaced.
  init(descriptor: Int32, live: Bool) { (self.descriptor, self.live) = (descriptor, live) }

  /// Replaces the last line, unless it is the same.
  package mutating func show(_ text: String) {
    if text != shown { tell(text) }
  }

  /// Replaces the last line, even if it is the same.
  package mutating func tell(_ words: String) {
    let text = Visible.text(words)
    // Back to the first column, clear the line, write.
    write(live ? "\r\u{1B}[K\(text)" : "\(text)\n")
    shown = words
  }

  /// Writes a line that is not replaced later.
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
