/// Bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
  /// The bytes as lower-case digits, two for each byte.
  package static func text(of bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digits(of: $0).high, digits(of: $0).low] }, as: UTF8.self)
  }

  /// The two lower-case digits of a byte.
  package static func digits(of byte: UInt8) -> (high: UInt8, low: UInt8) {
    (digits[Int(byte >> 4)], digits[Int(byte & 15)])
  }

  /// The number as lower-case digits, with leading zeros: four for a `UInt16`.
  package static func text(of number: some FixedWidthInteger & UnsignedInteger) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: number.bitWidth / 4 - text.count) + text
  }

  /// The bytes of digits in either case. Nil for other characters or an odd number of digits.
  package static func bytes(in text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      guard let value = value(of: character) else { return nil }
      if let half = high {
        bytes.append(half << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
