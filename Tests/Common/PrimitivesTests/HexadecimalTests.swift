import Primitives
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalTests {
  @Test("hexadecimal digits encode every byte, and are decoded to it")
  func bytes() {
    let all = Array(0...255 as ClosedRange<UInt8>)
    let text = Hexadecimal.text(of: all)
    #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff") && text.count == 512)
    #expect(Hexadecimal.bytes(in: text) == all)
    #expect(Hexadecimal.bytes(in: text.uppercased()) == all)
    #expect(Hexadecimal.bytes(in: "") == [])
  }

  @Test(
    "invalid text of hexadecimal digits is refused", arguments: ["0", "abc", "+1", "0x", " 1", "1 ", "g0", "٠٠", "é"])
  func others(_ text: String) {
    #expect(Hexadecimal.bytes(in: text) == nil)
  }

  @Test("a number is written with its full width in hexadecimal digits")
  func numbers() {
    #expect(Hexadecimal.text(of: 0 as UInt16) == "0000")
    #expect(Hexadecimal.text(of: 0x27C6 as UInt16) == "27c6")
    #expect(Hexadecimal.text(of: UInt8.max) == "ff")
  }
}

@Suite("The clocks of the kernel")
struct SystemClockTests {
  @Test("the kernel's clocks run forward, and the one that includes sleep is never behind the one that does not")
  func order() {
    let (awake, sinceBoot, calendar) = (
      SystemClock.awake.nanoseconds, SystemClock.sinceBoot.nanoseconds, SystemClock.calendar.nanoseconds
    )
    #expect(sinceBoot >= awake)
    #expect(SystemClock.awake.nanoseconds >= awake)
    // Later than 2020.
    #expect(calendar > 1_577_836_800_000_000_000)
  }
}
