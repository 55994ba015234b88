import Primitives
import Testing

@Suite("A number from outside")
struct OutsideNumberTests {
  @Test("a number from outside is given only in the range that is asked for, whatever its type was")
  func ranges() {
    for number in [Int64.min, -1, 0, 5, 255, 256, Int64.max] {
      let outside = OutsideNumber(number)
      #expect(outside.number(in: 0...255 as ClosedRange<UInt8>) == UInt8(exactly: number))
      #expect(outside.number(in: 1...10) == ((1...10).contains(number) ? Int(number) : nil))
      #expect(outside.number(in: Int64.min...Int64.max) == number)
    }
    #expect(OutsideNumber(UInt64.max).number(in: Int.min...Int.max) == nil)
    #expect(OutsideNumber(UInt64.max).number(in: 0...UInt64.max) == .max)
  }

  @Test("a number from outside is read from bytes and from digits, and from nothing else")
  func forms() {
    #expect(OutsideNumber(bigEndian: [1, 0, 0]).number(in: 0...Int.max) == 65_536)
    #expect(OutsideNumber(bigEndian: [UInt8](repeating: 255, count: 8)).number(in: 0...UInt64.max) == .max)
    #expect(OutsideNumber(digits: "00042")?.number(in: 0...100) == 42)
    #expect(OutsideNumber(digits: "99999999999999999999")?.number(in: 0...UInt64.max) == nil)
    for text in ["", "-1", "+1", "1 ", "0x1", "１", String(repeating: "1", count: 21)] {
      #expect(OutsideNumber(digits: text) == nil, "\(text)")
    }
  }

  @Test("a time that is no number, or too great for whole seconds, becomes the nearest number")
  func times() {
    #expect(Int64(clamping: .nan) == 0)
    #expect(Int64(clamping: .infinity) == .max)
    #expect(Int64(clamping: -.infinity) == .min)
    #expect(Int64(clamping: 9.3e18) == .max)
    #expect(UInt64(clamping: -1) == 0)
    #expect(UInt64(clamping: 1e300) == .max)
    #expect(Int64(clamping: 1_700_000_000.9) == 1_700_000_000)
    #expect(Int64(clamping: -0.5) == 0)
  }
}
