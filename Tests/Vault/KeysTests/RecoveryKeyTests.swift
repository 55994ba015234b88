internal import Keys
internal import Primitives
internal import Testing

@Suite struct RecoveryKeyTests {
  private let info = Array("recovery".utf8)
  private let symbols = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

  private func newText() throws -> String {
    String(decoding: bytes(of: try RecoveryKey.generate().text()), as: UTF8.self)
  }

  private func key(from text: String) throws -> [UInt8] {
    bytes(of: try RecoveryKey(parsing: secret(text)).key(info: info))
  }

  @Test("a recovery key has seven groups of five symbols, and every key is different")
  func shape() throws {
    var texts: Set<String> = []
    for _ in 0..<200 {
      let text = try newText()
      let groups = text.split(separator: "-", omittingEmptySubsequences: false)
      #expect(groups.count == 7)
      #expect(groups.allSatisfy { $0.count == 5 && $0.allSatisfy(symbols.contains) })
      texts.insert(text)
    }
    #expect(texts.count == 200)
  }

  @Test("the text of a recovery key is parsed to the same key")
  func roundTrip() throws {
    for _ in 0..<200 {
      let original = try RecoveryKey.generate()
      let parsed = try RecoveryKey(parsing: original.text())
      #expect(bytes(of: try parsed.key(info: info)) == bytes(of: try original.key(info: info)))
      #expect(bytes(of: parsed.text()) == bytes(of: original.text()))
    }
  }

  @Test("each of the 160 bits in a recovery key's text affects the key that is derived")
  func everyBitCounts() throws {
    // The text of all-zero bits is all zeros. Set each bit through the symbol that contains it.
    let zero = String(repeating: "0", count: 35)
    var keys: Set<[UInt8]> = [try key(from: zero)]
    for bit in 0..<160 {
      var values = [Int](repeating: 0, count: 35)
      values[bit / 5] = 16 >> (bit % 5)
      let remainder = values.reduce(0) { ($0 * 32 + $1) % 32749 }
      let check = (32749 - remainder) % 32749
      for place in 0..<3 { values[34 - place] = check >> (5 * place) & 31 }
      keys.insert(try key(from: String(values.map { symbols[$0] })))
    }
    #expect(keys.count == 161)
  }

  @Test("case, spaces, dashes and similar letters do not matter in a recovery key")
  func forgiving() throws {
    let zeros = "0" + String(repeating: "0", count: 34)
    #expect(try key(from: "oO0o0-" + zeros.dropFirst(5)) == key(from: zeros))
    for _ in 0..<50 {
      let text = try newText()
      let expected = try key(from: text)
      #expect(try key(from: text.lowercased()) == expected)
      #expect(try key(from: text.filter { $0 != "-" }) == expected)
      #expect(try key(from: "  " + text.map { "\($0) " }.joined() + "\r\n") == expected)
      for stand in ["I", "i", "L", "l"] {
        #expect(try key(from: String(text.map { $0 == "1" ? Character(stand) : $0 })) == expected)
      }
      for stand in ["O", "o"] {
        #expect(try key(from: String(text.map { $0 == "0" ? Character(stand) : $0 })) == expected)
      }
    }
  }

  @Test("every single wrong symbol in a recovery key is reported as a typing error")
  func substitutions() throws {
    let text = Array(try newText().filter { $0 != "-" })
    for position in text.indices {
      for symbol in symbols where symbol != text[position] {
        var wrong = text
        wrong[position] = symbol
        #expect(throws: RecoveryKey.ParseError.mistyped) { _ = try RecoveryKey(parsing: secret(String(wrong))) }
      }
    }
  }

  @Test("every swap of two symbols in a recovery key is reported as a typing error")
  func transpositions() throws {
    let text = Array(try newText().filter { $0 != "-" })
    for first in text.indices {
      for second in text.indices where text[first] != text[second] {
        var wrong = text
        wrong.swapAt(first, second)
        #expect(throws: RecoveryKey.ParseError.mistyped) { _ = try RecoveryKey(parsing: secret(String(wrong))) }
      }
    }
  }

  @Test("a recovery key with a wrong number of symbols or an invalid character has its own error")
  func otherErrors() throws {
    let text = try newText()
    for wrong in ["", "-", String(text.dropLast()), text + "0", text + text] {
      #expect(throws: RecoveryKey.ParseError.wrongLength) { _ = try RecoveryKey(parsing: secret(wrong)) }
    }
    for sign in ["U", "u", "!", "é", "\0"] {
      #expect(throws: RecoveryKey.ParseError.notASymbol(position: 7)) {
        _ = try RecoveryKey(parsing: secret(text.prefix(7) + sign + text.dropFirst(8)))
      }
    }
  }

  @Test("a recovery key gives a different key for a different use")
  func uses() throws {
    let recovery = try RecoveryKey.generate()
    let one = try recovery.key(info: info)
    let other = try recovery.key(info: info + [0])
    #expect(one.count == 32)
    #expect(bytes(of: one) != bytes(of: other))
  }
}
