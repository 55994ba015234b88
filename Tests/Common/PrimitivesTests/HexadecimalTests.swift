import Primitives
import Testing

@Suite("Hexadecimal digits")
struct HexadecimalTests {
  @Test("stand for every byte and back")
  func bytes() {
    let all = Array(0...255 as ClosedRange<UInt8>)
    let text = Hexadecimal.text(of: all)
    #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff") && text.count == 512)
    #expect(Hexadecimal.bytes(in: text) == all)
    #expect(Hexadecimal.bytes(in: text.uppercased()) == all)
    #expect(Hexadecimal.bytes(in: "") == [])
  }

  @Test(
    "are refused with anything else between them", arguments: ["0", "abc", "+1", "0x", " 1", "1 ", "g0", "٠٠", "é"])
  func others(_ text: String) {
    #expect(Hexadecimal.bytes(in: text) == nil)
  }

  @Test("of a number have its width")
  func numbers() {
    #expect(Hexadecimal.text(of: 0 as UInt16) == "0000")
    #expect(Hexadecimal.text(of: 0x27C6 as UInt16) == "27c6")
    #expect(Hexadecimal.text(of: UInt8.max) == "ff")
  }
}

@Suite("The clocks of the kernel")
struct SystemClockTests {
  @Test("go forward, and the one with sleep is never behind the one without")
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
