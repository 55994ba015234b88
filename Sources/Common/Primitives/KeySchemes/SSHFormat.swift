/// The data types of the SSH protocol (RFC 4251, section 5), in which its keys, signatures and agents' messages are
/// written.
package enum SSHFormat {
  /// The position of the content of the string that begins at `start`. Nil if the bytes end too early.
  package static func string(in bytes: UnsafeRawBufferPointer, at start: Int) -> Range<Int>? {
    guard start >= 0, bytes.count - start >= 4 else { return nil }
    let first = start + 4
    guard let count = unsafe OutsideNumber(bigEndian: bytes[start..<first]).number(in: 0...bytes.count - first) else {
      return nil
    }
    return first..<first + count
  }

  /// The positions of the contents of the strings that fill `bytes`, in order. Nil unless they are exactly `count`.
  package static func strings(in bytes: UnsafeRawBufferPointer, from start: Int, count: Int) -> [Range<Int>]? {
    var found: [Range<Int>] = []
    var next = start
    for _ in 0..<count {
      guard let string = unsafe string(in: bytes, at: next) else { return nil }
      found.append(string)
      next = string.upperBound
    }
    return next == bytes.count ? found : nil
  }
}

/// Bytes with an invalid format.
package struct SSHFormatError: Error, Sendable, Hashable {
  package init() {}
}

/// Reads values of SSH's data types one after the other.
package struct SSHReader: Sendable {
  private let bytes: [UInt8]
  private var next = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var isAtEnd: Bool { next == bytes.count }

  /// The bytes before the next value.
  package var passed: [UInt8] { Array(bytes[..<next]) }

  package mutating func byte() throws(SSHFormatError) -> UInt8 {
    guard next < bytes.count else { throw SSHFormatError() }
    defer { next += 1 }
    return bytes[next]
  }

  /// A Boolean. Every byte but 0 is true.
  package mutating func boolean() throws(SSHFormatError) -> Bool { try byte() != 0 }

  package mutating func number() throws(SSHFormatError) -> UInt32 {
    guard bytes.count - next >= 4 else { throw SSHFormatError() }
    defer { next += 4 }
    return UInt32(bigEndian: bytes[next..<next + 4])
  }

  /// A number of eight bytes.
  package mutating func longNumber() throws(SSHFormatError) -> UInt64 {
    guard bytes.count - next >= 8 else { throw SSHFormatError() }
    defer { next += 8 }
    return UInt64(bigEndian: bytes[next..<next + 8])
  }

  package mutating func string() throws(SSHFormatError) -> [UInt8] {
    guard let place = unsafe bytes.withUnsafeBytes({ unsafe SSHFormat.string(in: $0, at: next) }) else {
      throw SSHFormatError()
    }
    next = place.upperBound
    return Array(bytes[place])
  }

  /// A string of UTF-8.
  package mutating func text() throws(SSHFormatError) -> String {
    guard let text = String(validating: try string(), as: UTF8.self) else { throw SSHFormatError() }
    return text
  }

  /// Throws if there is more.
  package func end() throws(SSHFormatError) {
    guard isAtEnd else { throw SSHFormatError() }
  }
}

/// Writes values of SSH's data types one after the other.
package struct SSHWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(byte: UInt8) { bytes.append(byte) }

  package mutating func append(number: UInt32) {
    unsafe withUnsafeBytes(of: number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func append(string: some Collection<UInt8>) {
    append(number: UInt32(clamping: string.count))
    bytes.append(contentsOf: string)
  }

  package mutating func append(text: String) { append(string: Array(text.utf8)) }

  /// A non-negative integer (`mpint`), from its bytes, the highest first.
  package mutating func append(integer: some Collection<UInt8>) {
    let digits = integer.drop { $0 == 0 }
    // A set highest bit would make it negative.
    let sign: [UInt8] = (digits.first ?? 0) >= 0x80 ? [0] : []
    append(string: sign + digits)
  }
}
