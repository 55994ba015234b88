// Single keys: what they are, how their bytes are read, and watching for one while something else goes on.

internal import CLinux
internal import Dispatch
package import Glibc
internal import Synchronization

/// Ends a wait for a key.
package final class Stopper: Sendable {
  package let descriptor = eventfd(0, Int32(EFD_CLOEXEC))

  deinit { close(descriptor) }

  package init() {}

  package func stop() { eventfd_write(descriptor, 1) }

  var isStopped: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // Borrows the entry for the call.
    return unsafe poll(&entry, 1, 0) > 0
  }
}

/// The keys pressed on a terminal, between ``Terminal/beginKeys()`` and ``Terminal/endKeys()``.
struct Keys: ~Copyable {
  /// Why keys are read. While a question is asked, a watch for Enter and Esc reads nothing, so that it does not take
  /// the answer.
  enum Purpose {
    case question, watch
  }

  /// How long after an Esc the rest of an escape sequence may arrive, in milliseconds.
  private static let escapeDelay: Int32 = 100
  /// How often a watch checks whether it may read again, in milliseconds.
  private static let patience: Int32 = 100
  /// The number of questions that are being asked.
  private static let questions = Mutex(0)

  private let terminal: Terminal
  private let stopper: Stopper
  private let purpose: Purpose
  private var decoder: KeyDecoder

  init(_ terminal: Terminal, _ purpose: Purpose, _ stopper: Stopper) {
    (self.terminal, self.purpose, self.stopper) = (terminal, purpose, stopper)
    var settings = termios()
    decoder = unsafe tcgetattr(terminal.descriptor, &settings) == 0 ? KeyDecoder(.init(settings)) : KeyDecoder()
    if purpose == .question { Self.questions.withLock { $0 += 1 } }
  }

  deinit {
    if purpose == .question { Self.questions.withLock { $0 -= 1 } }
  }

  /// Waits for a key; nil when the stopper, the end of the program or the end of the terminal comes first.
  mutating func next() -> Key? {
    while true {
      var entries = [
        pollfd(fd: stopper.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: Terminal.leaving, events: Int16(POLLIN), revents: 0),
        pollfd(fd: terminal.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let mayRead = terminal.isForeground && (purpose == .question || Self.questions.withLock { $0 == 0 })
      if mayRead { terminal.refreshKeys() }
      // Borrows the entries for the call.
      let ready = unsafe poll(
        &entries, mayRead ? 3 : 2, mayRead ? (decoder.isUndecided ? Self.escapeDelay : Self.patience) : Self.patience)
      if ready < 0, errno != EINTR { return nil }
      if ready > 0, entries[0].revents != 0 || entries[1].revents != 0 { return nil }
      if ready == 0, mayRead, decoder.isUndecided, let key = decoder.pause() { return key }
      if ready > 0, mayRead, entries[2].revents != 0 {
        switch readByte() {
        case .byte(let byte): if let key = decoder.take(byte) { return key }
        case .nothing: break
        case .gone: return nil
        }
      }
    }
  }

  private enum Reading {
    case byte(UInt8)
    case nothing
    case gone
  }

  private func readByte() -> Reading {
    // A question may have begun since the last check. The lock is held during the read, so that none begins now.
    Self.questions.withLock { questions in
      guard purpose == .question || questions == 0 else { return .nothing }
      var byte: UInt8 = 0
      // Writes at most one byte.
      switch unsafe read(terminal.descriptor, &byte, 1) {
      case 1: return .byte(byte)
      case 0: return .gone
      default: return errno == EAGAIN || errno == EINTR ? .nothing : .gone
      }
    }
  }
}

/// A key that a person pressed.
package enum Key: Equatable {
  case enter
  /// Esc, or Ctrl-D.
  case cancel
  /// Backspace.
  case erase
  /// Ctrl-W.
  case eraseWord
  /// Ctrl-U.
  case eraseLine
  /// A byte of the text. A character outside ASCII has several.
  case text(UInt8)
}

/// Turns the bytes of a terminal into keys. Keys that send an escape sequence (arrows, function keys, Alt with a
/// letter) are ignored; their Esc does not cancel.
package struct KeyDecoder {
  /// The bytes that edit a line, from the terminal's settings (`stty -a`). 0 means none.
  package struct Settings {
    var erase: UInt8 = 0x7F
    var eraseWord: UInt8 = 0x17
    var eraseLine: UInt8 = 0x15
    var endOfFile: UInt8 = 0x04
    var literal: UInt8 = 0x16

    package init() {}

    package init(_ settings: termios) {
      func byte(_ index: Int32) -> UInt8 { unsafe withUnsafeBytes(of: settings.c_cc) { unsafe $0[Int(index)] } }
      (erase, eraseWord, eraseLine) = (byte(VERASE), byte(VWERASE), byte(VKILL))
      (endOfFile, literal) = (byte(VEOF), byte(VLNEXT))
    }
  }

  private enum State {
    case text
    /// The next byte is text, whatever its value.
    case literal
    /// An Esc was read.
    case escape
    /// `ESC [` was read, and perhaps parameters.
    case controlSequence
    /// `ESC O` was read.
    case singleShift
  }

  private let settings: Settings
  private var state = State.text

  package init(_ settings: Settings = Settings()) { self.settings = settings }

  /// Whether the last byte may begin an escape sequence. Call ``pause()`` when no byte follows for a moment.
  package var isUndecided: Bool {
    switch state {
    case .escape, .controlSequence, .singleShift: true
    case .text, .literal: false
    }
  }

  /// Ends an escape sequence that nothing followed: a lone Esc was the key itself.
  package mutating func pause() -> Key? {
    defer { state = .text }
    return state == .escape ? .cancel : nil
  }

  /// The key that this byte completes.
  package mutating func take(_ byte: UInt8) -> Key? {
    switch state {
    case .literal:
      state = .text
      return .text(byte)
    case .escape:
      switch byte {
      case UInt8(ascii: "["): state = .controlSequence
      case UInt8(ascii: "O"): state = .singleShift
      // Some terminals send another Esc before a key with Alt.
      case 0x1B: break
      default: state = .text
      }
      return nil
    case .controlSequence:
      // Parameter and intermediate bytes continue the sequence; any other byte ends it (ECMA-48, 5.4).
      if !(0x20...0x3F).contains(byte) { state = .text }
      return nil
    case .singleShift:
      state = .text
      return nil
    case .text:
      return key(byte)
    }
  }

  private mutating func key(_ byte: UInt8) -> Key? {
    switch byte {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .enter
    case 0x1B:
      state = .escape
      return nil
    case 0: return .text(0)
    case settings.endOfFile: return .cancel
    // Terminals disagree about which of the two Backspace sends.
    case settings.erase, 0x7F, 0x08: return .erase
    case settings.eraseWord: return .eraseWord
    case settings.eraseLine: return .eraseLine
    case settings.literal:
      state = .literal
      return nil
    default: return .text(byte)
    }
  }
}

/// Waits for Enter, Esc and Ctrl-R while a call runs. Other keys are dropped and not shown, since some people start to
/// type the passcode.
package final class KeyWatch: Sendable {
  private let stopper = Stopper()
  private let ended = DispatchSemaphore(value: 0)

  /// What Ctrl-R sends. Not a letter: people may start to type the passcode.
  package static let reject = Key.text(0x12)

  /// Calls `pressed` with `enter`, `cancel` or ``reject`` on a thread of its own, until ``stop()``. Nil where no key
  /// can be read: the program is in the background, or the terminal is gone.
  package init?(on terminal: Terminal, pressed: @escaping @Sendable (Key) -> Void) {
    guard terminal.isForeground, terminal.beginKeys() else { return nil }
    // Discard earlier input here, not on the thread: when that starts, the prompt may be shown and a key pressed for it.
    terminal.discardInput()
    let (stopper, ended) = (stopper, ended)
    DispatchQueue(label: "whorl.keys").async {
      var keys = Keys(terminal, .watch, stopper)
      while let key = keys.next() {
        if key == .enter || key == .cancel || key == Self.reject { pressed(key) }
      }
      terminal.discardInput()
      terminal.endKeys()
      ended.signal()
    }
  }

  /// Stops, and returns when the terminal's settings have been restored.
  package func stop() {
    stopper.stop()
    ended.wait()
    ended.signal()
  }
}
