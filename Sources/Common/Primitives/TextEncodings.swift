// Bytes as text: hexadecimal digits, base64 and Bech32.

internal import Glibc

extension String {
  /// Whether the text contains U+0000, which ends a text in C.
  package var containsNUL: Bool {
    var text = self
    return text.withUTF8 { bytes in unsafe bytes.baseAddress.map { unsafe memchr($0, 0, bytes.count) != nil } ?? false }
  }
}

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

/// Base64 with padding (RFC 4648, section 4), and without it as age writes it. ``Base64URL`` decodes both.
package enum Base64 {
  fileprivate static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The length of the padded text for so many bytes.
  package static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

  /// - Parameter target: of ``encodedCount(_:)`` bytes.
  package static func encode(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    unsafe Base64URL.encode(bytes, into: target, with: alphabet)
    for place in Base64URL.encodedCount(bytes.count)..<target.count { unsafe target[place] = padding }
  }

  package static func text(of bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: encodedCount(bytes.count))
    unsafe bytes.withUnsafeBytes { source in unsafe text.withUnsafeMutableBytes { unsafe encode(source, into: $0) } }
    return String(decoding: text, as: UTF8.self)
  }

  package static func unpaddedText(of bytes: [UInt8]) -> String {
    String(decoding: text(of: bytes).utf8.prefix(Base64URL.encodedCount(bytes.count)), as: UTF8.self)
  }

  /// Nil for anything but the one text that ``unpaddedText(of:)`` makes of the bytes.
  package static func bytes(ofUnpadded text: String) -> [UInt8]? {
    Base64URL.bytes(of: text).flatMap { unpaddedText(of: $0) == text ? $0 : nil }
  }
}

/// Base64 in the URL-safe alphabet and without padding (RFC 4648, section 5), from and into memory of the caller's, so
/// that secrets can stay in locked memory.
package enum Base64URL {
  private static let alphabet = Array(Base64.alphabet.dropLast(2)) + Array("-_".utf8)

  /// The length of the text for so many bytes.
  package static func encodedCount(_ count: Int) -> Int { (count * 8 + 5) / 6 }

  /// - Parameter target: of ``encodedCount(_:)`` bytes.
  package static func encode(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    unsafe encode(bytes, into: target, with: alphabet)
  }

  fileprivate static func encode(
    _ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, with alphabet: [UInt8]
  ) {
    var (pending, bits, place) = (UInt32(0), 0, 0)
    func put(_ value: UInt32) {
      unsafe target[place] = alphabet[Int(value & 63)]
      place += 1
    }
    for index in 0..<bytes.count {
      pending = pending << 8 | UInt32(unsafe bytes[index])
      bits += 8
      while bits >= 6 {
        bits -= 6
        put(pending >> UInt32(bits))
      }
    }
    if bits > 0 { put(pending << UInt32(6 - bits)) }
  }

  /// Decodes a text, which may be in the other alphabet (`+` and `/`) and padded.
  ///
  /// - Parameter target: of at least the text's length.
  /// - Returns: the number of bytes; nil if the text is not in base64.
  package static func decode(_ text: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) -> Int? {
    var (pending, bits, place) = (UInt32(0), 0, 0)
    var end = text.count
    while end > 0, text.count - end < 2, unsafe text[end - 1] == UInt8(ascii: "=") { end -= 1 }
    guard end == text.count || text.count % 4 == 0, end % 4 != 1 else { return nil }
    for index in 0..<end {
      guard let value = value(of: unsafe text[index]) else { return nil }
      pending = pending << 6 | UInt32(value)
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      unsafe target[place] = UInt8(truncatingIfNeeded: pending >> UInt32(bits))
      place += 1
    }
    return pending & (1 << UInt32(bits) - 1) == 0 ? place : nil
  }

  package static func text(of bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: encodedCount(bytes.count))
    unsafe bytes.withUnsafeBytes { source in unsafe text.withUnsafeMutableBytes { unsafe encode(source, into: $0) } }
    return String(decoding: text, as: UTF8.self)
  }

  package static func bytes(of text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    var bytes = [UInt8](repeating: 0, count: characters.count)
    let count = unsafe characters.withUnsafeBytes { source in
      unsafe bytes.withUnsafeMutableBytes { unsafe decode(source, into: $0) }
    }
    return count.map { Array(bytes.prefix($0)) }
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

/// Bech32 (BIP 173): bytes as lower-case letters and digits after a prefix and `1`, with a checksum of six characters
/// that finds typing errors. age writes keys in it, without BIP 173's limit of 90 characters.
package enum Bech32 {
  private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
  private static let checkCount = 6

  /// - Parameter prefix: lower-case ASCII.
  package static func text(of bytes: [UInt8], prefix: String) -> String {
    var text = [UInt8](repeating: 0, count: encodedCount(bytes.count, prefix: prefix))
    unsafe bytes.withUnsafeBytes { source in
      unsafe text.withUnsafeMutableBytes { unsafe encode(source, prefix: prefix, into: $0) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The length of the text for so many bytes.
  package static func encodedCount(_ count: Int, prefix: String) -> Int {
    prefix.utf8.count + 1 + (count * 8 + 4) / 5 + checkCount
  }

  /// Writes the text into memory of the caller's, so that a secret can stay in locked memory.
  ///
  /// - Parameters:
  ///   - prefix: lower-case ASCII.
  ///   - target: of ``encodedCount(_:prefix:)`` bytes.
  package static func encode(
    _ bytes: UnsafeRawBufferPointer, prefix: String, into target: UnsafeMutableRawBufferPointer
  ) {
    var place = 0
    func put(_ character: UInt8) {
      unsafe target[place] = character
      place += 1
    }
    for character in prefix.utf8 { put(character) }
    put(UInt8(ascii: "1"))
    var check = checksum(of: expanded(prefix))
    var (pending, bits) = (UInt32(0), 0)
    func add(_ value: UInt32) {
      check = next(check, UInt8(value))
      put(alphabet[Int(value)])
    }
    for index in 0..<bytes.count {
      pending = pending << 8 | UInt32(unsafe bytes[index])
      bits += 8
      while bits >= 5 {
        bits -= 5
        add(pending >> UInt32(bits) & 31)
      }
      pending &= 1 << UInt32(bits) - 1
    }
    if bits > 0 { add(pending << UInt32(5 - bits) & 31) }
    for _ in 0..<checkCount { check = next(check, 0) }
    for number in 0..<checkCount { put(alphabet[Int((check ^ 1) >> UInt32(5 * (checkCount - 1 - number)) & 31)]) }
  }

  /// The bytes of a text with this prefix. Nil for another prefix, upper case or a wrong checksum.
  package static func bytes(in text: String, prefix: String) -> [UInt8]? {
    guard text.hasPrefix("\(prefix)1") else { return nil }
    var values: [UInt8] = []
    for character in text.utf8.dropFirst(prefix.utf8.count + 1) {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      values.append(UInt8(value))
    }
    guard values.count >= checkCount, checksum(of: expanded(prefix) + values) == 1 else { return nil }
    let bytes = regrouped(values.dropLast(checkCount), from: 5, to: 8)
    // The padding bits of the last character are fewer than five, and zero.
    guard bytes.restCount < 5, bytes.rest == 0 else { return nil }
    return bytes.bits
  }

  /// Regroups the low `from` bits of each value into groups of `to` bits. Also returns the remaining bits.
  private static func regrouped(
    _ values: some Sequence<UInt8>, from: Int, to: Int
  ) -> (bits: [UInt8], rest: UInt8, restCount: Int) {
    var groups: [UInt8] = []
    var pending: UInt32 = 0
    var count = 0
    for value in values {
      pending = pending << UInt32(from) | UInt32(value)
      count += from
      while count >= to {
        count -= to
        groups.append(UInt8(pending >> UInt32(count) & (1 << UInt32(to) - 1)))
      }
      pending &= 1 << UInt32(count) - 1
    }
    return (groups, UInt8(pending), count)
  }

  private static func expanded(_ prefix: String) -> [UInt8] {
    prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
  }

  private static func checksum(of values: [UInt8]) -> UInt32 { values.reduce(UInt32(1)) { next($0, $1) } }

  /// The checksum's polynomial, as BIP 173 gives it.
  private static func next(_ check: UInt32, _ value: UInt8) -> UInt32 {
    var next = (check & 0x1ff_ffff) << 5 ^ UInt32(value)
    let top = check >> 25
    // No list of them: a list of machines has hundreds of keys, and each of their characters comes here.
    if top & 1 != 0 { next ^= 0x3b6a_57b2 }
    if top & 2 != 0 { next ^= 0x2650_8e6d }
    if top & 4 != 0 { next ^= 0x1ea1_19fa }
    if top & 8 != 0 { next ^= 0x3d42_33dd }
    if top & 16 != 0 { next ^= 0x2a14_62b3 }
    return next
  }
}
