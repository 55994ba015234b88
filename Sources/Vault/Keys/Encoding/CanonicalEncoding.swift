/// An unambiguous encoding of a sequence of parts, for data that is authenticated or hashed: different sequences have
/// different encodings. A part is a tag, a 32-bit big-endian length and that many bytes. An absent part has the length
/// 0xFFFFFFFF and no bytes.
///
/// The tag also defines the type of a part. Under the same tag, a string and its UTF-8 bytes have the same encoding,
/// and so do an integer and its eight bytes.
package struct CanonicalEncoding: Sendable, Hashable {
  package private(set) var bytes: [UInt8] = []

  package init() {
    // Enough for most encodings, so that the array rarely grows.
    bytes.reserveCapacity(256)
  }

  package mutating func append(tag: UInt8, _ part: [UInt8]) {
    appendHeader(tag, count: part.count)
    bytes += part
  }

  /// Appends a string as UTF-8. It is not normalised, so strings that only look alike stay different.
  package mutating func append(tag: UInt8, _ part: String) {
    let part = part.utf8
    appendHeader(tag, count: part.count)
    bytes += part
  }

  /// Appends an integer as eight bytes, big-endian.
  package mutating func append(tag: UInt8, _ part: UInt64) {
    appendHeader(tag, count: MemoryLayout<UInt64>.size)
    appendBigEndian(part)
  }

  /// Appends a part that may be absent. Absent differs from empty.
  package mutating func append(tag: UInt8, optional part: [UInt8]?) {
    if let part { append(tag: tag, part) } else { appendAbsence(tag: tag) }
  }

  /// Appends a part that may be absent. Absent differs from empty.
  package mutating func append(tag: UInt8, optional part: String?) {
    if let part { append(tag: tag, part) } else { appendAbsence(tag: tag) }
  }

  /// Appends a part that may be absent. Absent differs from zero.
  package mutating func append(tag: UInt8, optional part: UInt64?) {
    if let part { append(tag: tag, part) } else { appendAbsence(tag: tag) }
  }

  package mutating func appendAbsence(tag: UInt8) {
    bytes.append(tag)
    appendBigEndian(UInt32.max)
  }

  private mutating func appendHeader(_ tag: UInt8, count: Int) {
    precondition(count < UInt32.max, "a part is shorter than 4 GiB")
    bytes.append(tag)
    appendBigEndian(UInt32(count))
  }

  private mutating func appendBigEndian(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  static func header(_ tag: UInt8, count: Int) -> [UInt8] {
    precondition(count < UInt32.max, "a part is shorter than 4 GiB")
    return [tag] + bigEndian(UInt32(count))
  }

  private static func bigEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
