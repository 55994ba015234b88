internal import CLinux
internal import Glibc
internal import PromptTexts
internal import Synchronization
internal import TerminalGuard

/// The program's controlling terminal, whatever the standard streams are.
package final class Terminal: Sendable {
  /// `/dev/tty`, owned by this object. Reading it never blocks.
  package let descriptor: Int32

  /// The controlling terminal; nil where the program has none.
  package init?() {
    // Opened anew, since O_NONBLOCK on a shared description would affect other programs.
    descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
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
