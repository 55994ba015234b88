/// Base64 in the URL-safe alphabet and without padding (RFC 4648, section 5), from and into memory of the caller's, so
/// that secrets can stay in locked memory.
package enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The length of the text for so many bytes.
  package static func encodedCount(_ count: Int) -> Int { (count * 8 + 5) / 6 }

  /// - Parameter target: of ``encodedCount(_:)`` bytes.
  package static func encode(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
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
