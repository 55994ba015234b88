// The terminal. Begin with `Terminal`; `Questions.swift` asks in lines, `Keys.swift` reads single keys.

internal import CLinux
internal import Glibc
internal import Synchronization
internal import TerminalGuard

/// The program's controlling terminal, whatever the standard streams are.
package final class Terminal: Sendable {
  /// `/dev/tty`, owned by this object. Reading it never blocks.
  package let descriptor: Int32

  /// The controlling terminal; nil where the program has none.
  package init?() {
    // Opened anew, since O_NONBLOCK on a shared description would affect other programs.
    descriptor = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Whether the program has a controlling terminal.
  package static var exists: Bool { Terminal() != nil }

  /// Whether this program is in the foreground. Reading from the background would stop it.
  var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  func write(_ text: String) { _ = writeAll(text, to: descriptor) }

  /// Drops input that has not been read.
  func discardInput() { tcflush(descriptor, TCIFLUSH) }

  // MARK: Single keys

  private struct KeyReaders {
    /// The number of users of single keys.
    var count = 0
    /// Whether the program is about to end.
    var left = false
  }

  private static let keyReaders = Mutex(KeyReaders())

  /// Turns echo and line mode off until ``endKeys()``. Calls nest. A signal that ends or stops the program, and `exit`,
  /// restore the terminal's settings. False where the terminal is gone or the program is about to end.
  package func beginKeys() -> Bool {
    Self.keyReaders.withLock { readers in
      guard !readers.left, readers.count > 0 || terminal_guard_begin(descriptor) == 0 else { return false }
      readers.count += 1
      return true
    }
  }

  package func endKeys() {
    Self.keyReaders.withLock { readers in
      readers.count -= 1
      if readers.count == 0 { terminal_guard_end() }
    }
  }

  /// Turns echo and line mode off again, after another program has used the terminal.
  func refreshKeys() { terminal_guard_refresh() }

  // MARK: Signals that the program handles itself

  /// Becomes readable when the program is about to end, to stop waits for keys.
  static let leaving: Int32 = eventfd(0, Int32(EFD_CLOEXEC))
  /// The terminal with a question whose line has not been ended yet.
  private static let asked = Mutex<Terminal?>(nil)

  /// Shows a question. The answer goes to the same line, until ``endQuestion(shown:)``.
  func ask(_ question: String) {
    Self.asked.withLock { $0 = self }
    write(Visible.text(question))
  }

  /// Ends the line of a question. `shown`: the terminal has echoed the answer's newline already.
  static func endQuestion(shown: Bool = false) {
    asked.withLock { asked in
      if !shown { asked?.write("\n") }
      asked = nil
    }
  }

  /// Restores the terminal's settings before a stop, in a program that handles its signals itself.
  package static func pause() { terminal_guard_pause() }

  /// Undoes ``pause()`` after the stop.
  package static func resume() { terminal_guard_resume() }

  /// Restores the terminal's settings and cancels every question, in a program that is about to end.
  package static func leave() {
    keyReaders.withLock { readers in
      readers.left = true
      terminal_guard_end()
    }
    endQuestion()
    eventfd_write(leaving, 1)
  }
}

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
    guard let name = unsafe getenv("TERM").map({ unsafe String(cString: $0) }) else { return true }
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
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return "\r\u{1B}[K" }
    // At the right edge the cursor stays in the row until the next character.
    let rows = (max(1, Visible.columns(of: Visible.text(shown))) - 1) / Int(size.ws_col)
    return rows > 0 ? "\r\u{1B}[\(rows)A\u{1B}[J" : "\r\u{1B}[K"
  }

  private func write(_ text: String) { _ = writeAll(text, to: descriptor) }
}

/// Writes the whole text. Returns the `errno` of a failure.
package func writeAll(_ text: String, to descriptor: Int32) -> Int32? {
  var text = text
  return text.withUTF8 { bytes in
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
      // Borrows the rest for the call.
      let count = unsafe Glibc.write(
        descriptor, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[rest.indices]).baseAddress,
        rest.count)
      if count >= 0 {
        unsafe rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&entry, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }
}
