/// Bytes that stand for one sequence of parts and for no other, for whatever is authenticated or hashed. A part is a
/// tag, a 32-bit big-endian length and that many bytes; an absent part has the length 0xFFFFFFFF and no bytes.
///
/// The tag says what a part is, so it also settles its type: a string, the same UTF-8 bytes, and an integer of the
/// same eight bytes are equal under an equal tag.
package struct CanonicalEncoding: Sendable, Hashable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(tag: UInt8, _ part: [UInt8]) {
    appendHeader(tag, count: part.count)
    bytes += part
  }

  /// As UTF-8, not normalised: names that only look alike stay apart.
  package mutating func append(tag: UInt8, _ part: String) {
    let part = part.utf8
    appendHeader(tag, count: part.count)
    bytes += part
  }

  /// As eight bytes, big-endian.
  package mutating func append(tag: UInt8, _ part: UInt64) {
    append(tag: tag, Self.bigEndian(part))
  }

  /// A part that may be absent, which is not the same as empty.
  package mutating func append(tag: UInt8, optional part: [UInt8]?) {
    if let part { append(tag: tag, part) } else { appendAbsence(tag: tag) }
  }

  /// A part that may be absent, which is not the same as empty.
  package mutating func append(tag: UInt8, optional part: String?) {
    if let part { append(tag: tag, part) } else { appendAbsence(tag: tag) }
  }

  /// A part that may be absent, which is not the same as zero.
  package mutating func append(tag: UInt8, optional part: UInt64?) {
    if let part { append(tag: tag, part) } else { appendAbsence(tag: tag) }
  }

  package mutating func appendAbsence(tag: UInt8) {
    bytes.append(tag)
    bytes += Self.bigEndian(UInt32.max)
  }

  private mutating func appendHeader(_ tag: UInt8, count: Int) {
    precondition(count < UInt32.max, "a part is shorter than 4 GiB")
    bytes.append(tag)
    withUnsafeBytes(of: UInt32(count).bigEndian) { bytes.append(contentsOf: $0) }
  }

  static func header(_ tag: UInt8, count: Int) -> [UInt8] {
    precondition(count < UInt32.max, "a part is shorter than 4 GiB")
    return [tag] + bigEndian(UInt32(count))
  }

  private static func bigEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
