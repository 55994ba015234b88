// JSON with secrets in it, which stay in locked memory.

package import Primitives
internal import SecretModel

/// A JSON text without its secrets, for a decoder that copies what it reads into memory that is not locked. Only
/// strings of members that are known to be no secrets stay in the text. All others stay in locked memory, and marks
/// replace them.
package struct OpenText {
  /// The mark of a string that stayed in locked memory.
  package struct Mark: Decodable, Sendable {
    fileprivate let number: Int

    package init(from decoder: any Decoder) throws {
      let text = try decoder.singleValueContainer().decode(String.self)
      guard text.first == "@", let number = Int(text.dropFirst()) else { throw ImportError.malformed("it has no mark") }
      self.number = number
    }
  }

  /// The text with the marks.
  package let bytes: [UInt8]
  private let whole: SharedSecret
  private let strings: [Range<Int>]

  /// - Parameter open: the names of the members whose strings are no secrets.
  package init(_ whole: SharedSecret, open: Set<String>) {
    self.whole = whole
    (bytes, strings) = whole.bytes.withUnsafeBytes { Self.split($0, open) }
  }

  /// The string of a mark, with its escapes resolved; nil for an unknown mark. Of an escape that
  /// JSON does not have the backslash stays, which is not valid in base64.
  package func secret(_ mark: Mark) -> SharedSecret? {
    guard strings.indices.contains(mark.number) else { return nil }
    let range = strings[mark.number]
    var text = SecretBytes(count: range.count)
    var count = 0
    whole.bytes.withUnsafeBytes { bytes in
      text.withUnsafeMutableBytes { target in count = Self.unescape(bytes[range], into: target) }
    }
    text.resize(to: count)
    return SharedSecret(text)
  }

  /// Decodes the base64 of a mark's string; nil if it is not base64.
  func decoded(_ mark: Mark) -> SharedSecret? { secret(mark).flatMap { Self.decoded($0) } }

  static func decoded(_ text: SharedSecret) -> SharedSecret? {
    var bytes = SecretBytes(count: text.bytes.count)
    var count: Int?
    text.bytes.withUnsafeBytes { source in
      bytes.withUnsafeMutableBytes { count = Base64URL.decode(source, into: $0) }
    }
    guard let count else { return nil }
    bytes.resize(to: count)
    return SharedSecret(bytes)
  }

  private static func split(_ text: UnsafeRawBufferPointer, _ open: Set<String>) -> ([UInt8], [Range<Int>]) {
    let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    var result: [UInt8] = []
    var strings: [Range<Int>] = []
    // The name of the member whose value comes next.
    var name: String?
    var place = 0
    while place < text.count {
      guard text[place] == quote else {
        if !" \t\r\n:".utf8.contains(text[place]) { name = nil }
        result.append(text[place])
        place += 1
        continue
      }
      let start = place + 1
      var end = start
      while end < text.count, text[end] != quote { end += text[end] == backslash ? 2 : 1 }
      // A string without an end, which no decoder accepts.
      guard end < text.count else { return (result + [quote], strings) }
      place = end + 1
      let next = text[place...].first { !" \t\r\n".utf8.contains($0) }
      if next == UInt8(ascii: ":") {
        name = String(decoding: text[start..<end], as: UTF8.self)
        result += text[(start - 1)...end]
      } else {
        if let name, open.contains(name) {
          result += text[(start - 1)...end]
        } else {
          result += "\"@\(strings.count)\"".utf8
          strings.append(start..<end)
        }
        name = nil
      }
    }
    return (result, strings)
  }

  private static func unescape(_ text: Slice<UnsafeRawBufferPointer>, into target: UnsafeMutableRawBufferPointer)
    -> Int
  {
    var count = 0
    var place = text.startIndex
    while place < text.endIndex {
      var byte = text[place]
      if byte == UInt8(ascii: "\\") {
        // A string does not end in a backslash: its last quotation mark would be escaped.
        place += 1
        switch text[place] {
        case UInt8(ascii: "n"): byte = UInt8(ascii: "\n")
        case UInt8(ascii: "r"): byte = UInt8(ascii: "\r")
        case UInt8(ascii: "t"): byte = UInt8(ascii: "\t")
        case UInt8(ascii: "b"): byte = 0x08
        case UInt8(ascii: "f"): byte = 0x0C
        case UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "\\"): byte = text[place]
        default:
          // An escape is longer than the UTF-8 of its character.
          guard let character = character(of: text, at: &place) else { break }
          for byte in character.utf8 {
            target[count] = byte
            count += 1
          }
          place += 1
          continue
        }
      }
      target[count] = byte
      count += 1
      place += 1
    }
    return count
  }
}

extension OpenText {
  /// The character of `uXXXX`, or of two such escapes for one beyond U+FFFF; nil for anything else.
  ///
  /// - Parameter place: of the u; afterwards of the last digit.
  private static func character(of text: Slice<UnsafeRawBufferPointer>, at place: inout Int) -> Unicode.Scalar? {
    func unit(at start: Int) -> UInt16? {
      let digits = text[start...].dropFirst().prefix(4)
      guard start < text.endIndex, text[start] == UInt8(ascii: "u"), digits.count == 4,
        let number = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      return number
    }
    guard let first = unit(at: place) else { return nil }
    if let scalar = Unicode.Scalar(first) {
      place += 4
      return scalar
    }
    let next = place + 5
    guard UTF16.isLeadSurrogate(first), next + 1 < text.endIndex, text[next] == UInt8(ascii: "\\"),
      let second = unit(at: next + 1), UTF16.isTrailSurrogate(second)
    else { return nil }
    place = next + 5
    return Unicode.Scalar(0x10000 + UInt32(first & 0x3FF) << 10 + UInt32(second & 0x3FF))
  }
}

/// Writes a text with secrets into a socket.
final class SecretText {
  private let socket: Int32
  /// Bytes that are not written yet.
  private var pending = SecretBytes(count: 0)

  private static let limit = 64 << 10

  /// - Parameter socket: borrowed for as long as this exists.
  init(to socket: Int32) { self.socket = socket }

  func append(_ text: String) throws(VaultError) {
    let bytes = Array(text.utf8)
    grow(by: bytes.count) { $0.copyBytes(from: bytes) }
    if pending.count >= Self.limit { try flush() }
  }

  /// Appends the bytes in URL-safe base64.
  func append(base64 secret: SharedSecret) throws(VaultError) {
    grow(by: Base64URL.encodedCount(secret.bytes.count)) { target in
      secret.bytes.withUnsafeBytes { Base64URL.encode($0, into: target) }
    }
    if pending.count >= Self.limit { try flush() }
  }

  /// Writes the pending bytes.
  func flush() throws(VaultError) {
    do throws(WriteError) {
      try pending.write(to: socket)
    } catch {
      throw .inputOutput("the export: \(error)")
    }
    pending.resize(to: 0)
  }

  private func grow(by count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
    let filled = pending.count
    pending.resize(to: filled + count)
    pending.withUnsafeMutableBytes { fill(UnsafeMutableRawBufferPointer(rebasing: $0[filled...])) }
  }
}
