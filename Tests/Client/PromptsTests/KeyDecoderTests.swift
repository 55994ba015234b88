import Primitives
import Testing

@testable import Prompts

@Suite("Keys of a terminal")
struct KeyDecoderTests {
  /// The keys decoded from these bytes, with no bytes after them.
  private func keys(_ bytes: String, _ settings: KeyDecoder.Settings = .init()) -> [Key] {
    var decoder = KeyDecoder(settings)
    var keys = bytes.utf8.compactMap { decoder.take($0) }
    if decoder.isUndecided, let key = decoder.pause() { keys.append(key) }
    return keys
  }

  @Test("KeyDecoder reads Esc by itself as cancel, and ignores Esc as the start of an escape sequence")
  func escape() {
    #expect(keys("\u{1B}") == [.cancel])
    for sequence in ["\u{1B}[A", "\u{1B}OP", "\u{1B}[1;5D", "\u{1B}[200~", "\u{1B}\u{1B}[B", "\u{1B}x"] {
      #expect(keys(sequence + "y") == [.text(UInt8(ascii: "y"))], "\(sequence.debugDescription)")
    }
    #expect(keys("\u{1B}[").isEmpty)
    #expect(keys("a\u{1B}") == [.text(UInt8(ascii: "a")), .cancel])
  }

  @Test("KeyDecoder takes the editing keys from the terminal's settings")
  func settings() {
    #expect(
      keys("\r\n\u{4}\u{7F}\u{8}\u{17}\u{15}") == [.enter, .enter, .cancel, .erase, .erase, .eraseWord, .eraseLine])
    var own = KeyDecoder.Settings()
    (own.endOfFile, own.eraseLine) = (0x18, 0)
    #expect(keys("\u{18}\u{4}\u{15}", own) == [.cancel, .text(4), .text(0x15)])
    #expect(keys("\u{0}", own) == [.text(0)])
  }

  @Test("KeyDecoder takes the byte after Ctrl-V as text")
  func literal() {
    #expect(keys("\u{16}\u{1B}\u{16}\n") == [.text(0x1B), .text(0x0A)])
  }

  @Test("SecretLine erases a whole character, a word or the line, and reports a line that is too long")
  func line() {
    var line = SecretLine(limit: 8)
    var counts: [Int] = []
    for byte in "a bé".utf8 { line.type(byte) }
    line.erase()
    counts.append(line.secret.count)
    line.eraseWord()
    counts.append(line.secret.count)
    for byte in "12345678".utf8 { line.type(byte) }
    counts.append(line.secret.count)
    let wasTooLong = line.isTooLong
    line.eraseLine()
    let isTooLong = line.isTooLong
    counts.append(line.take().count)
    #expect(counts == [3, 2, 8, 0])
    #expect(wasTooLong)
    #expect(!isTooLong)
  }
}
