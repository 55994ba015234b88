// Questions to a person in whole lines, and secrets that are typed without echo.

internal import Glibc
package import Primitives
internal import Synchronization

/// Why a question at the terminal has no answer.
package enum Unanswered: Error, Sendable {
  /// The person pressed Esc or Ctrl-D, or the program is about to end.
  case cancelled
  /// The call that asked has ended.
  case withdrawn
  /// The two entries of a new secret differed three times.
  case differed
  /// The terminal is gone.
  case noTerminal
}

/// Whether a secret can be seen while it is typed.
package enum SecretDisplay: Sendable {
  case hidden
  /// After Tab, until it is pressed again: for long keys that are copied from paper.
  case onRequest
  case shown
}

extension Terminal {
  /// The longest passcode, password or recovery key that is read, in bytes. The vault has further rules.
  package static let answerLimit = 1024

  /// Held while a question is asked, so that only one is asked at a time.
  private static let turn = Mutex(())

  /// Asks for a new secret twice, up to three times until both entries are the same. `what` is "passcode" in "New
  /// passcode, again:".
  ///
  /// - Parameter stopper: withdraws the question.
  package func readNewSecret(
    _ what: String, limit: Int = answerLimit, stopper: Stopper = Stopper()
  ) throws(Unanswered) -> SecretBytes {
    for _ in 1...3 {
      let first = try readSecret("New \(what)", limit: limit, stopper: stopper)
      let again = try readSecret("New \(what), again", limit: limit, stopper: stopper)
      if first.constantTimeEquals(again) { return first }
      write("They differ. Try again.\n")
    }
    throw .differed
  }

  /// Asks for a secret.
  ///
  /// - Parameters:
  ///   - display: whether what is typed may be seen.
  ///   - stopper: withdraws the question.
  package func readSecret(
    _ question: String, display: SecretDisplay = .hidden, limit: Int = answerLimit, stopper: Stopper = Stopper()
  ) throws(Unanswered) -> SecretBytes {
    try Self.turn.withLock { (_) throws(Unanswered) in
      guard !stopper.isStopped else { throw .withdrawn }
      guard beginKeys() else { throw .noTerminal }
      defer { endKeys() }
      return try readSecretNow(question, display, limit, stopper)
    }
  }

  private func readSecretNow(
    _ question: String, _ display: SecretDisplay, _ limit: Int, _ stopper: Stopper
  ) throws(Unanswered) -> SecretBytes {
    var keys = Keys(self, .question, stopper)
    // Drop what was typed before the question.
    discardInput()
    if display == .onRequest { write("Tab shows what you type.\n") }
    var isShown = display == .shown
    while true {
      ask("\(question): ")
      defer { Self.endQuestion() }
      var line = SecretLine(limit: limit)
      typing: while true {
        switch keys.next() {
        case .text(Self.tab) where display == .onRequest:
          isShown.toggle()
          // On a new line, which every terminal can do.
          Self.endQuestion()
          ask("\(question): ")
          if isShown { line.show(on: descriptor) }
        case .text(let byte):
          line.type(byte)
          if isShown, !line.isTooLong { line.show(last: 1, on: descriptor) }
        case .erase: edit(&line, isShown) { $0.erase() }
        case .eraseWord: edit(&line, isShown) { $0.eraseWord() }
        case .eraseLine: edit(&line, isShown) { $0.eraseLine() }
        case .enter: break typing
        case .cancel: throw .cancelled
        case nil: throw stopper.isStopped ? .withdrawn : .cancelled
        }
      }
      if !line.isTooLong { return line.take() }
      write("\nThat is longer than \(limit) bytes. Give a shorter one.")
    }
  }

  /// Asks for a recovery key, which may be seen after Tab, since it is long and copied from paper. Enter alone answers
  /// nothing: the caller may ask again after a wrong key, and must come to an end.
  ///
  /// - Parameter stopper: withdraws the question.
  package func readRecoveryKey(
    _ question: String, stopper: Stopper = Stopper()
  ) throws(Unanswered) -> SecretBytes {
    let key = try readSecret(question, display: .onRequest, stopper: stopper)
    guard !key.isEmpty else { throw .cancelled }
    return key
  }

  private static let tab = UInt8(ascii: "\t")

  /// Erases a part of a line, on the screen as well where it is shown.
  private func edit(_ line: inout SecretLine, _ isShown: Bool, _ erase: (inout SecretLine) -> Void) {
    let before = line.secret.count
    erase(&line)
    if isShown { write(String(repeating: "\u{8} \u{8}", count: before - line.secret.count)) }
  }

  /// Asks a question. True only if the answer is a yes.
  package func confirm(_ question: String) throws(Unanswered) -> Bool {
    ["y", "yes"].contains(try readLine("\(question) [y/N]")?.lowercased())
  }

  /// Asks for a line, which is shown as it is typed. Nil where the person ends the input (Ctrl-D) and answers nothing.
  package func readLine(_ question: String) throws(Unanswered) -> String? {
    ask("\(question) ")
    // The terminal echoes the newline of an answer.
    var isAnswered = false
    defer { Self.endQuestion(shown: isAnswered) }
    var answer: [UInt8] = []
    while !isAnswered {
      guard try hasInput(within: nil) else { continue }
      var byte: UInt8 = 0
      // Writes at most one byte. The terminal is in line mode: bytes arrive when the newline has been typed.
      let count = unsafe read(descriptor, &byte, 1)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count == 1 else { return answer.isEmpty ? nil : String(decoding: answer, as: UTF8.self) }
      isAnswered = byte == UInt8(ascii: "\n")
      if !isAnswered { answer.append(byte) }
    }
    return String(decoding: answer, as: UTF8.self)
  }

  /// Waits for Enter. False after the time limit.
  package func isEntered(within limit: Duration) throws(Unanswered) -> Bool {
    guard try hasInput(within: limit) else { return false }
    // The line itself is of no interest.
    discardInput()
    return true
  }

  private func hasInput(within limit: Duration?) throws(Unanswered) -> Bool {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: Self.leaving, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = limit.map { Int32(clamping: $0.components.seconds * 1_000) } ?? -1
    // Borrows the entries for the call.
    let ready = unsafe poll(&entries, 2, milliseconds)
    guard ready >= 0 || errno == EINTR else { throw .noTerminal }
    if entries[1].revents != 0 { throw .cancelled }
    return ready > 0
  }
}

/// A line that is typed without echo, and the keys that edit it.
struct SecretLine: ~Copyable {
  /// The text typed so far.
  private(set) var secret = SecretBytes(count: 0)
  /// Whether more was typed than the limit. Erasing the line resets this.
  private(set) var isTooLong = false
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  mutating func type(_ byte: UInt8) {
    guard secret.count < limit else {
      isTooLong = true
      return
    }
    secret.resize(to: secret.count + 1)
    let last = secret.count - 1
    unsafe secret.withUnsafeMutableBytes { unsafe $0[last] = byte }
  }

  /// Removes the last character, with all of its bytes in UTF-8.
  mutating func erase() {
    while let byte = last {
      secret.resize(to: secret.count - 1)
      if byte & 0xC0 != 0x80 { return }
    }
  }

  /// Removes the last word and the spaces after it.
  mutating func eraseWord() {
    while last == UInt8(ascii: " ") { erase() }
    while let byte = last, byte != UInt8(ascii: " ") { erase() }
  }

  mutating func eraseLine() {
    secret.resize(to: 0)
    isTooLong = false
  }

  private var last: UInt8? {
    let count = secret.count
    return unsafe count == 0 ? nil : secret.withUnsafeBytes { unsafe $0[count - 1] }
  }

  /// Shows the end of the line, with a question mark for each byte that is not a visible character of ASCII, so that each
  /// byte takes one column and none is a command to the terminal.
  ///
  /// - Parameter count: the number of bytes; nil: the whole line.
  func show(last count: Int? = nil, on descriptor: Int32) {
    var shown = SecretBytes(count: min(count ?? secret.count, secret.count))
    let start = secret.count - shown.count
    unsafe shown.withUnsafeMutableBytes { shown in
      unsafe secret.withUnsafeBytes { secret in
        for index in shown.indices {
          let byte = unsafe secret[start + index]
          unsafe shown[index] = (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?")
        }
      }
    }
    try? shown.write(to: descriptor)
  }

  consuming func take() -> SecretBytes { secret }
}
