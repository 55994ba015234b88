internal import CLinux
internal import Glibc
internal import Synchronization
internal import TerminalGuard

/// The terminal the person sits at, whatever the standard streams are.
package final class Terminal: Sendable {
  /// `/dev/tty`, owned by this object. Reading it never blocks.
  let descriptor: Int32

  /// The controlling terminal; nil where the program has none.
  package init?() {
    // A description of its own: that it does not block concerns nobody else.
    descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Whether there is one.
  package static var exists: Bool { Terminal() != nil }

  /// Whether this program is the one the terminal listens to. Reading from the background would stop it.
  var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  func write(_ text: String) { _ = writeAll(text, to: descriptor) }

  /// Drops what was typed and has not been read.
  func discardInput() { tcflush(descriptor, TCIFLUSH) }

  // MARK: Single keys

  private struct KeyReaders {
    /// How many want single keys now.
    var count = 0
    /// The program is about to end.
    var left = false
  }

  private static let keyReaders = Mutex(KeyReaders())

  /// Turns echo and line mode off until ``endKeys()``. Calls nest. A signal that ends or stops the program, and `exit`, put
  /// the terminal back as it was. False where the terminal has gone, or the program is about to end.
  func beginKeys() -> Bool {
    Self.keyReaders.withLock { readers in
      guard !readers.left, readers.count > 0 || terminal_guard_begin(descriptor) == 0 else { return false }
      readers.count += 1
      return true
    }
  }

  func endKeys() {
    Self.keyReaders.withLock { readers in
      readers.count -= 1
      if readers.count == 0 { terminal_guard_end() }
    }
  }

  /// Turns echo and line mode off again where another program had the terminal meanwhile.
  func refreshKeys() { terminal_guard_refresh() }

  // MARK: Signals that the program takes itself

  /// Becomes readable when the program is about to end: whoever waits for a key stops.
  static let leaving: Int32 = eventfd(0, Int32(EFD_CLOEXEC))
  /// The terminal with a question whose line has not been ended yet.
  private static let asked = Mutex<Terminal?>(nil)

  /// Shows a question. What is shown next goes to the same line, until ``endQuestion(shown:)``.
  func ask(_ question: String) {
    Self.asked.withLock { $0 = self }
    write(Visible.text(question))
  }

  /// Leaves the cursor at the start of a line where a question was asked. `shown`: the terminal has shown the newline of
  /// the answer already.
  static func endQuestion(shown: Bool = false) {
    asked.withLock { asked in
      if !shown { asked?.write("\n") }
      asked = nil
    }
  }

  /// For a program that takes its signals itself, before it stops: puts the terminal back for now.
  package static func pause() { terminal_guard_pause() }

  /// After ``pause()`` and a stop.
  package static func resume() { terminal_guard_resume() }

  /// For a program that is about to end: puts the terminal back, and ends every question as cancelled.
  package static func leave() {
    keyReaders.withLock { readers in
      readers.left = true
      terminal_guard_end()
    }
    endQuestion()
    eventfd_write(leaving, 1)
  }
}
