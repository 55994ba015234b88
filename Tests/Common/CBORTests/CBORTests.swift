import CBOR
import Primitives
import Testing

@Suite("CBOR in CTAP2's canonical form")
struct CBORTests {
  /// RFC 8949, appendix A: those that the subset has.
  static let published: [(String, CBORValue)] = [
    ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
    ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000), ("1bffffffffffffffff", .unsigned(.max)),
    ("3bffffffffffffffff", .negative(.max)), ("20", -1), ("29", -10), ("3863", -100), ("3903e7", -1000),
    ("f4", false), ("f5", true), ("f6", .null), ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", ""),
    ("6161", "a"), ("6449455446", "IETF"), ("62225c", "\"\\"), ("62c3bc", "\u{fc}"), ("63e6b0b4", "\u{6c34}"),
    ("64f0908591", "\u{10151}"), ("80", .array([])), ("83010203", .array([1, 2, 3])),
    ("8301820203820405", .array([1, .array([2, 3]), .array([4, 5])])),
    (
      "98190102030405060708090a0b0c0d0e0f101112131415161718181819", .array((1...25).map { CBORValue($0) })
    ),
    ("a0", [:]), ("a201020304", [1: 2, 3: 4]), ("a26161016162820203", ["a": 1, "b": .array([2, 3])]),
    ("826161a161626163", .array(["a", ["b": "c"]])),
    ("a56161614161626142616361436164614461656145", ["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"]),
  ]

  @Test("CBOR is read and written as in the examples of RFC 8949", arguments: published)
  func vectors(hex: String, value: CBORValue) throws {
    let bytes = try #require(Hexadecimal.bytes(in: hex))
    #expect(try CBORValue(decoding: bytes) == value)
    #expect(value.encoded == bytes)
  }

  @Test(
    "CBOR that is not in CTAP2's canonical form is refused",
    arguments: [
      ("", CBORError.incomplete), ("1800", .notShortest), ("1817", .notShortest), ("190017", .notShortest),
      ("1b0000000000000001", .notShortest), ("3800", .notShortest), ("580100", .notShortest), ("780161", .notShortest),
      ("980100", .notShortest), ("b8010000", .notShortest), ("5f4101ff", .notShortest), ("7f6161ff", .notShortest),
      ("9f01ff", .notShortest), ("bf0101ff", .notShortest), ("1c", .notShortest), ("c001", .unsupported),
      ("f90000", .unsupported), ("fa47c35000", .unsupported), ("fb3ff199999999999a", .unsupported),
      ("f7", .unsupported), ("e0", .unsupported), ("f820", .unsupported), ("ff", .unsupported),
      ("61ff", .unsupported), ("62c328", .unsupported), ("63eda080", .unsupported), ("a2030401 02", .keyOrder),
      ("a201020103", .keyOrder), ("a2616201616101", .keyOrder), ("a262616101616201", .keyOrder),
      ("a2200101 02", .keyOrder), ("a262c3a90163 65cc8101", .keyOrder), ("8181818180", .tooDeep),
      ("a101a101a101a101a0", .tooDeep), ("0000", .trailing), ("41", .incomplete), ("5bffffffffffffffff", .incomplete),
      ("9bffffffffffffffff", .incomplete), ("bbffffffffffffffff", .incomplete), ("8201", .incomplete),
      ("a101", .incomplete), ("19", .incomplete),
    ] as [(String, CBORError)])
  func refused(hex: String, error: CBORError) throws {
    let bytes = try #require(Hexadecimal.bytes(in: hex.filter { $0 != " " }))
    #expect(throws: error) { try CBORValue(decoding: bytes) }
  }

  @Test("CBOR may be nested four levels deep")
  func depth() throws {
    #expect(throws: Never.self) { try CBORValue(decoding: [0x81, 0x81, 0x81, 0x80]) }
  }

  @Test("CBOR orders keys by type, then length, then bytes, as CTAP2 does")
  func order() throws {
    let value: CBORValue = ["aa": 1, "b": 2, 10: 3, -1: 4, 100: 5, .bytes([9]): 6]
    #expect(Hexadecimal.text(of: value.encoded) == "a60a031864052004410906616202626161" + "01")
    #expect(try CBORValue(decoding: value.encoded) == value)
  }

  @Test("the CBOR decoder reports where the first of several values ends")
  func first() throws {
    let (value, count) = try CBORValue.first(in: [0x82, 1, 2, 0xA0])
    #expect(value == .array([1, 2]) && count == 3)
  }

  @Test("CBOR of random bytes is read or refused without a crash, and written as it was read", arguments: 0..<8)
  func random(seed: Int) throws {
    print("CBOR seed \(seed)")
    var random = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9 &+ 1)
    for _ in 0..<(Campaign.isLong ? 500_000 : 5_000) {
      var bytes: [UInt8]
      if Bool.random(using: &random) {
        bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      } else {
        let hex = Self.published.randomElement(using: &random)?.0 ?? ""
        bytes = try #require(Hexadecimal.bytes(in: "a2" + "01" + hex + "02" + hex))
        for _ in 0..<Int.random(in: 0...2, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      guard let value = try? CBORValue(decoding: bytes) else { continue }
      #expect(value.encoded == bytes)
    }
  }

  /// Where the ranges of numbers end.
  static let ends: [UInt64] = [
    0, 1, 23, 24, 255, 256, 65_535, 65_536, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 53,
    UInt64(Int64.max) - 1, UInt64(Int64.max), 1 << 63, (1 << 63) + 1, .max - 1, .max,
  ]

  @Test(
    "CBOR numbers, lengths and counts at the ends of their ranges are read or refused without a crash", arguments: ends)
  func extremes(number: UInt64) throws {
    for kind in UInt8(0)...7 {
      for (information, count) in [(UInt8(24), 1), (25, 2), (26, 4), (27, 8)]
      where count == 8 || number >> (8 * count) == 0 {
        let digits: [UInt8] = (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        let head: [UInt8] = [kind << 5 | information] + digits
        let starts: [[UInt8]] = [head, [0x81] + head, [0xA1] + head, [0xA1, 0] + head]
        for tail in [[], [0], [UInt8](repeating: 0, count: 300)] {
          for bytes in starts.map({ $0 + tail }) {
            if let value = try? CBORValue(decoding: bytes) { #expect(value.encoded == bytes) }
            if let (value, count) = try? CBORValue.first(in: bytes) { #expect(value.encoded == Array(bytes[..<count])) }
          }
        }
      }
    }
    #expect(CBORValue.unsigned(number).integer == Int(exactly: number))
    #expect(CBORValue.negative(number).integer == (number < 1 << 63 ? -1 - Int(number) : nil))
  }

  @Test("the least and the greatest integer are the same in CBOR and back")
  func integers() throws {
    for number in [Int.min, Int.min + 1, -1, 0, Int.max - 1, Int.max] {
      #expect(try CBORValue(decoding: CBORValue(number).encoded).integer == number)
    }
  }

  @Test("CBOR represents public keys as COSE does")
  func keys() throws {
    let (x, y) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    for key in [COSEKey(signing: [4] + x + y), COSEKey(agreement: [4] + x + y), COSEKey(signing: x)] {
      let key = try #require(key)
      #expect(COSEKey(try CBORValue(decoding: key.value.encoded)) == key)
    }
    #expect(COSEKey(signing: [3] + x + y) == nil)
    #expect(COSEKey([1: 2, 3: -7, -1: 2, -2: .bytes(x), -3: .bytes(y)]) == nil)
    #expect(COSEKey([1: 2, 3: -7, -1: 1, -2: .bytes(x), -3: .bytes(x + y)]) == nil)
  }
}
