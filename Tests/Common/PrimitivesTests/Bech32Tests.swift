import Primitives
import Testing

@Suite("Bech32")
struct Bech32Tests {
  @Test(
    "Bech32 reads and writes the valid strings of BIP 173",
    arguments: [
      ("a", "a12uel5l", ""),
      (
        "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio",
        "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs", ""
      ),
      ("abcdef", "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", "00443214c74254b635cf84653a56d7c675be77df"),
      (
        "split", "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w",
        "c5f38b70305f519bf66d85fb6cf03058f3dde463ecd7918f2dc743918f2d"
      ),
    ])
  func publishedStrings(prefix: String, text: String, digits: String) throws {
    let bytes = try #require(Bech32.bytes(in: text, prefix: prefix))
    #expect(Hexadecimal.text(of: bytes) == digits)
    #expect(Bech32.text(of: bytes, prefix: prefix) == text)
  }

  @Test("Bech32 decodes to the bytes that were encoded, whatever their number")
  func roundTrip() {
    for count in 0...40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 5) }
      #expect(Bech32.bytes(in: Bech32.text(of: bytes, prefix: "age"), prefix: "age") == bytes)
    }
  }

  @Test("Bech32 refuses every wrong character, another prefix, upper case and Bech32m")
  func refusals() {
    let text = Bech32.text(of: [UInt8](1...32), prefix: "age")
    #expect(Bech32.bytes(in: text, prefix: "agf") == nil)
    #expect(Bech32.bytes(in: text.uppercased(), prefix: "AGE") == nil)
    #expect(Bech32.bytes(in: String(text.dropLast()), prefix: "age") == nil)
    let characters = Array(text.utf8)
    for place in characters.indices {
      var changed = characters
      changed[place] = changed[place] == UInt8(ascii: "q") ? UInt8(ascii: "p") : UInt8(ascii: "q")
      #expect(Bech32.bytes(in: String(decoding: changed, as: UTF8.self), prefix: "age") == nil)
    }
    // Valid as Bech32m (BIP 350), which has a different checksum.
    #expect(Bech32.bytes(in: "a1lqfn3a", prefix: "a") == nil)
  }
}
