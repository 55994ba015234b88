import CommandBase
internal import Moving
import Primitives
import Settings

/// The members of a JSON object of strings, the form in which docker gives a credential. The values stay in locked
/// memory.
struct DockerFields: Sendable {
  private let members: [(name: String, value: SharedSecret)]

  /// - Throws: `usage` for what is not one JSON object with strings for values.
  init(_ json: borrowing SecretBytes) throws(Failure) {
    members = try json.withUnsafeBytes { (bytes) throws(Failure) in
      var reader = ObjectReader(bytes: bytes)
      return try reader.members()
    }
  }

  /// The value of a member, the last if there are several; nil if there is none.
  ///
  /// - Throws: `usage` if it is not UTF-8.
  func text(_ name: String) throws(Failure) -> String? {
    guard let value = value(of: name) else { return nil }
    return try ObjectReader.text(value.bytes)
  }

  /// A copy of the value of a member; nil if there is none.
  func secret(_ name: String) -> SecretBytes? { value(of: name)?.copy() }

  private func value(of name: String) -> SharedSecret? { members.last { $0.name == name }?.value }
}

/// Reads one JSON object whose values are strings (RFC 8259).
private struct ObjectReader {
  /// Valid for as long as the caller's closure.
  let bytes: UnsafeRawBufferPointer
  private var place = 0

  init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func members() throws(Failure) -> [(name: String, value: SharedSecret)] {
    var members: [(name: String, value: SharedSecret)] = []
    try expect("{")
    if !takes("}") {
      repeat {
        let name = try Self.text(try string())
        try expect(":")
        members.append((name, SharedSecret(try string())))
      } while takes(",")
      try expect("}")
    }
    skipSpace()
    guard place == bytes.count else { throw Self.malformed }
    return members
  }

  static func text(_ bytes: borrowing SecretBytes) throws(Failure) -> String {
    guard let text = bytes.withUnsafeBytes({ String(validating: $0, as: UTF8.self) }) else { throw malformed }
    return text
  }

  private mutating func string() throws(Failure) -> SecretBytes {
    try expect("\"")
    var value = SecretBytes(count: 0)
    while true {
      // Copy unescaped bytes in one piece.
      let start = place
      while place < bytes.count, !Self.isSpecial(bytes[place]) { place += 1 }
      value.append(UnsafeRawBufferPointer(rebasing: bytes[start..<place]))
      switch try next() {
      case UInt8(ascii: "\""): return value
      case UInt8(ascii: "\\"): value.append(try escaped())
      // JSON requires control characters to be escaped.
      default: throw Self.malformed
      }
    }
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// The character of an escape, whose backslash was read.
  private mutating func escaped() throws(Failure) -> Unicode.Scalar {
    switch try next() {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeScalar()
    default: throw Self.malformed
    }
  }

  /// The character of a four-digit escape, or of two that form a surrogate pair.
  private mutating func unicodeScalar() throws(Failure) -> Unicode.Scalar {
    let first = try codeUnit()
    guard UTF16.isLeadSurrogate(first) else {
      guard let scalar = Unicode.Scalar(first) else { throw Self.malformed }
      return scalar
    }
    guard try next() == UInt8(ascii: "\\"), try next() == UInt8(ascii: "u") else { throw Self.malformed }
    let second = try codeUnit()
    guard UTF16.isTrailSurrogate(second),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
    else { throw Self.malformed }
    return scalar
  }

  private mutating func codeUnit() throws(Failure) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(try next())).hexDigitValue else { throw Self.malformed }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  // MARK: Bytes

  private mutating func next() throws(Failure) -> UInt8 {
    guard place < bytes.count else { throw Self.malformed }
    defer { place += 1 }
    return bytes[place]
  }

  private mutating func skipSpace() {
    while place < bytes.count, " \t\r\n".utf8.contains(bytes[place]) { place += 1 }
  }

  /// Reads a character if it is the next one after any space.
  private mutating func takes(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(Failure) {
    guard takes(character) else { throw Self.malformed }
  }

  private static let malformed = Failure.usage(
    "standard input is not a JSON object of strings", advice: "docker runs this command")
}
