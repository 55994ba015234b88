package import Glibc

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
      func byte(_ index: Int32) -> UInt8 { withUnsafeBytes(of: settings.c_cc) { $0[Int(index)] } }
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
