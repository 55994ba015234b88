internal import Glibc
internal import PromptTexts

/// Shows the progress of a prompt: on a terminal one line that changes, elsewhere a new line for each change.
///
/// It uses no colour, and each line makes sense without the lines before it.
package struct ProgressLine: ~Copyable {
  private let descriptor: Int32
  private let live: Bool
  private var shown = ""

  /// On standard error: live where that is a terminal that can go back in a line.
  package static func onStandardError() -> ProgressLine {
    ProgressLine(descriptor: STDERR_FILENO, live: isatty(STDERR_FILENO) == 1 && !isDumb)
  }

  /// Writes to `descriptor` and ignores errors; `live` says whether the last line can be replaced.
  package init(descriptor: Int32, live: Bool) { (self.descriptor, self.live) = (descriptor, live) }

  /// Whether the terminal supports no escape sequences, or its type is unknown. This affects only how a line looks.
  private static var isDumb: Bool {
    // The string belongs to the environment and is read at once.
    guard let name = getenv("TERM").map({ String(cString: $0) }) else { return true }
    return name.isEmpty || name == "dumb"
  }

  /// Replaces the last line, unless it is the same.
  package mutating func show(_ text: String) {
    if text != shown { tell(text) }
  }

  /// Replaces the last line, even if it is the same.
  package mutating func tell(_ words: String) {
    let text = Visible.text(words)
    write(live ? "\(clearing)\(text)" : "\(text)\n")
    shown = words
  }

  /// Writes a line that is not replaced later.
  package mutating func keep(_ text: String) {
    let text = Visible.text(text)
    write(live && !shown.isEmpty ? "\(clearing)\(text)\n" : "\(text)\n")
    shown = ""
  }

  /// Leaves the cursor at the start of a line.
  package mutating func finish() {
    if live, !shown.isEmpty { write(clearing) }
    shown = ""
  }

  /// Goes back to the beginning of what is shown and clears it. A narrow terminal has wrapped it over several rows.
  private var clearing: String {
    var size = winsize()
    // Writes the size of the terminal.
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return "\r\u{1B}[K" }
    // At the right edge the cursor stays in the row until the next character.
    let rows = (max(1, Visible.columns(of: Visible.text(shown))) - 1) / Int(size.ws_col)
    return rows > 0 ? "\r\u{1B}[\(rows)A\u{1B}[J" : "\r\u{1B}[K"
  }

  private func write(_ text: String) { _ = writeAll(text, to: descriptor) }
}
