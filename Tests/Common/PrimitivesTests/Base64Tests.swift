import Primitives
import Testing

@Suite("Base64 in the URL-safe alphabet")
struct Base64URLTests {
  /// RFC 4648, section 10, without padding.
  private static let vectors = [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy"),
  ]

  @Test("Base64URL encodes and decodes as in RFC 4648")
  func published() {
    for (plain, text) in Self.vectors {
      #expect(Base64URL.text(of: Array(plain.utf8)) == text)
      #expect(Base64URL.bytes(of: text) == Array(plain.utf8))
    }
    #expect(Base64URL.text(of: [0xFB, 0xEF, 0xFF]) == "--__")
  }

  @Test("Base64URL decodes to the bytes that were encoded, whatever their number")
  func lengths() {
    for count in 0...70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 201) }
      #expect(Base64URL.bytes(of: Base64URL.text(of: bytes)) == bytes)
    }
  }

  @Test("Base64URL also decodes the other alphabet and padding")
  func others() {
    #expect(Base64URL.bytes(of: "++//") == [0xFB, 0xEF, 0xFF])
    #expect(Base64URL.bytes(of: "Zg==") == [0x66] && Base64URL.bytes(of: "Zm8=") == [0x66, 0x6F])
  }

  @Test(
    "Base64URL refuses invalid texts", arguments: ["Z", "Zg=", "Zg===", "=", "====", "Zh", "Zm9", "Z g", "Zg\n", "Zä"])
  func refused(_ text: String) {
    #expect(Base64URL.bytes(of: text) == nil)
  }
}

@Suite("Base64 with padding, and without it as age writes it")
struct Base64Tests {
  /// RFC 4648, section 10.
  private static let vectors = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ]

  @Test("Base64 pads as in RFC 4648, in the alphabet with + and /")
  func published() {
    for (plain, text) in Self.vectors {
      #expect(Base64.text(of: Array(plain.utf8)) == text)
      #expect(Base64.unpaddedText(of: Array(plain.utf8)) == text.filter { $0 != "=" })
      #expect(Base64.bytes(ofUnpadded: text.filter { $0 != "=" }) == Array(plain.utf8))
    }
    #expect(Base64.text(of: [0xFB, 0xEF, 0xFF]) == "++//")
  }

  @Test(
    "Base64 without padding has one text for the same bytes",
    arguments: ["Zg==", "Zh", "--__", "Z", "Zm9v\n", " Zm9v", "Zm9vY===", "Zm9vÄ"])
  func refused(_ text: String) {
    #expect(Base64.bytes(ofUnpadded: text) == nil)
  }
}
