import Glibc
import SecureMemory
import Synchronization

/// The terminal the person sits at, whatever the standard streams are.
struct Terminal: Sendable {
  /// `/dev/tty`, open for the life of the process.
  let descriptor: Int32

  /// The controlling terminal; nil when there is none.
  static let current: Terminal? = {
    let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    return descriptor >= 0 ? Terminal(descriptor: descriptor) : nil
  }()

  /// Whether this program is the one the terminal listens to. Reading from the background would stop it.
  var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

  func write(_ text: String) {
    _ = writeAll(text, to: descriptor)
  }

  // MARK: Echo

  private struct Hidden {
    var descriptor: Int32
    var before: termios
    var during: termios
    var depth = 1
  }

  /// What the terminal was like before typing was hidden; whoever ends the process puts it back from here.
  private static let hidden = Mutex<Hidden?>(nil)

  /// Runs `body` while what is typed does not show.
  func withoutEcho<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    hide()
    defer { show() }
    return try body()
  }

  /// Hides what is typed until ``show()``. Calls nest.
  func hide() {
    Self.hidden.withLock { hidden in
      guard hidden == nil else {
        hidden?.depth += 1
        return
      }
      var now = termios()
      guard tcgetattr(descriptor, &now) == 0 else { return }
      var quiet = now
      quiet.c_lflag &= ~tcflag_t(ECHO)
      hidden = Hidden(descriptor: descriptor, before: now, during: quiet)
      tcsetattr(descriptor, TCSADRAIN, &quiet)
    }
  }

  func show() {
    Self.hidden.withLock { hidden in
      guard var now = hidden else { return }
      now.depth -= 1
      guard now.depth == 0 else {
        hidden = now
        return
      }
      tcsetattr(now.descriptor, TCSADRAIN, &now.before)
      hidden = nil
    }
  }

  /// Puts the terminal back as it was found; `forNow` when the program goes on later.
  static func restore(forNow: Bool = false) {
    hidden.withLock { hidden in
      guard var now = hidden else { return }
      tcsetattr(now.descriptor, TCSANOW, &now.before)
      if !forNow { hidden = nil }
    }
  }

  /// After ``restore(forNow:)`` and a stop.
  static func hideAgain() {
    hidden.withLock { hidden in
      guard var now = hidden else { return }
      tcsetattr(now.descriptor, TCSANOW, &now.during)
    }
  }

  // MARK: Questions

  /// Waits until a line can be read; false when a signal, or `stop` becoming readable, ends the waiting.
  func waitForLine(stop: Int32? = nil) -> Bool {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: Interruption.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stop ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      // Borrows the entries for the call.
      let ready = poll(&entries, nfds_t(entries.count), -1)
      guard ready >= 0 || errno == EINTR else { return false }
      if ready <= 0 { continue }
      if entries[1].revents != 0 || entries[2].revents != 0 { return false }
      return entries[0].revents & Int16(POLLIN) != 0
    }
  }

  /// The terminal with a question whose line nobody has ended yet.
  private static let asked = Mutex<Int32?>(nil)

  private func ask(_ question: String) {
    Self.asked.withLock { $0 = descriptor }
    write(Visible.text(question))
  }

  /// Leaves the cursor at the start of a line where a question was asked: what is said next is not its answer.
  static func endQuestion(answered: Bool = false) {
    asked.withLock { asked in
      if let descriptor = asked, !answered { _ = writeAll("\n", to: descriptor) }
      asked = nil
    }
  }

  /// Asks for a secret without showing it.
  func readSecret(_ prompt: String, limit: Int) throws(Failure) -> SecretBytes {
    try withoutEcho { () throws(Failure) in
      ask("\(prompt): ")
      defer { Self.endQuestion() }
      guard waitForLine() else { throw .cancelled }
      do throws(ReadError) {
        return try SecretBytes.readLine(from: descriptor, limit: limit)
      } catch {
        switch error {
        case .tooLong:
          // The rest of the line must not become an answer, or the shell's next command.
          tcflush(descriptor, TCIFLUSH)
          throw Failure(
            .usage, "that is longer than \(limit) bytes", name: "errSecDataTooLarge", advice: "give a shorter one")
        case .endOfInput: throw .cancelled
        case .system(let code): throw .cannotRead("from the terminal", code)
        }
      }
    }
  }

  /// Asks for a secret twice, up to three times over.
  func readNewSecret(_ what: String, limit: Int) throws(Failure) -> SecretBytes {
    for _ in 1...3 {
      let first = try readSecret("New \(what)", limit: limit)
      let again = try readSecret("New \(what), again", limit: limit)
      if first.constantTimeEquals(again) { return first }
      write("They differ. Try again.\n")
    }
    throw Failure(.usage, "the two entries differed three times", name: "errSecParam", advice: "try again")
  }

  /// Asks a question that only a clear yes answers with yes.
  func confirm(_ question: String) throws(Failure) -> Bool {
    ask("\(question) [y/N] ")
    // The terminal shows the newline of an answer itself.
    var isAnswered = false
    defer { Self.endQuestion(answered: isAnswered) }
    guard waitForLine() else { throw .cancelled }
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    // Writes one byte for each call.
    while !isAnswered, read(descriptor, &byte, 1) == 1 {
      isAnswered = byte == UInt8(ascii: "\n")
      if !isAnswered, answer.count < 8 { answer.append(byte) }
    }
    return ["y", "yes"].contains(String(decoding: answer, as: UTF8.self).lowercased())
  }
}
