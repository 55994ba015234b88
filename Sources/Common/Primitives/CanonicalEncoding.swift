/// An unambiguous encoding of a sequence of parts, for data that is authenticated, hashed, stored or sent: different
/// sequences have different encodings. It is the only format of this kind, so what it writes is never changed.
/// A part is a tag, a 32-bit big-endian length and that many bytes. An absent part has the length
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
    appendBigEndian(UInt32(clamping: count))
  }

  private mutating func appendBigEndian(_ value: some FixedWidthInteger) {
    unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// What precedes a part of this length.
  package static func header(_ tag: UInt8, count: Int) -> [UInt8] {
    precondition(count < UInt32.max, "a part is shorter than 4 GiB")
    return [tag] + bigEndian(UInt32(clamping: count))
  }

  private static func bigEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    unsafe withUnsafeBytes(of: value.bigEndian) { unsafe Array($0) }
  }
}

/// Reads the parts that ``CanonicalEncoding`` wrote, in the same order. Anything unexpected is an error: it comes from
/// another version, from a defect, or, where the bytes are not authenticated, from an enemy.
package struct CanonicalDecoder {
  /// The next part is not the one expected.
  package struct Unexpected: Error {
    package init() {}
  }

  private let bytes: [UInt8]
  private var offset: Int
  private let end: Int

  package init(_ bytes: [UInt8]) { self.init(bytes, 0..<bytes.count) }

  private init(_ bytes: [UInt8], _ range: Range<Int>) {
    (self.bytes, offset, end) = (bytes, range.lowerBound, range.upperBound)
  }

  package var isAtEnd: Bool { offset == end }

  /// The tag of the next part; nil at the end.
  package var nextTag: UInt8? { isAtEnd ? nil : bytes[offset] }

  /// The place of the next part, or nil if it was written as absent.
  private mutating func part(_ tag: UInt8) throws(Unexpected) -> Range<Int>? {
    guard end - offset >= 5, bytes[offset] == tag else { throw Unexpected() }
    let start = offset + 5
    let length = OutsideNumber(bigEndian: bytes[offset + 1..<start])
    if length == OutsideNumber(UInt32.max) {
      offset = start
      return nil
    }
    guard let count = length.number(in: 0...end - start) else { throw Unexpected() }
    offset = start + count
    return start..<offset
  }

  private mutating func presentPart(_ tag: UInt8) throws(Unexpected) -> Range<Int> {
    guard let part = try part(tag) else { throw Unexpected() }
    return part
  }

  /// Whether the next part was written as absent. It is passed over then.
  package mutating func isAbsent(_ tag: UInt8) throws(Unexpected) -> Bool {
    var following = self
    guard try following.part(tag) == nil else { return false }
    self = following
    return true
  }

  /// The next part, or nil if it was written as absent.
  package mutating func optionalBytes(_ tag: UInt8) throws(Unexpected) -> [UInt8]? {
    try part(tag).map { Array(bytes[$0]) }
  }

  package mutating func bytes(_ tag: UInt8) throws(Unexpected) -> [UInt8] { Array(bytes[try presentPart(tag)]) }

  /// The parts of which the next part consists.
  package mutating func parts(_ tag: UInt8) throws(Unexpected) -> CanonicalDecoder {
    CanonicalDecoder(bytes, try presentPart(tag))
  }

  private func number(at part: Range<Int>) throws(Unexpected) -> UInt64 {
    guard part.count == 8 else { throw Unexpected() }
    return UInt64(bigEndian: bytes[part])
  }

  package mutating func optionalNumber(_ tag: UInt8) throws(Unexpected) -> UInt64? {
    guard let part = try part(tag) else { return nil }
    return try number(at: part)
  }

  package mutating func number(_ tag: UInt8) throws(Unexpected) -> UInt64 { try number(at: try presentPart(tag)) }

  private func string(at part: Range<Int>) throws(Unexpected) -> String {
    guard let text = String(validating: bytes[part], as: UTF8.self) else { throw Unexpected() }
    return text
  }

  package mutating func optionalString(_ tag: UInt8) throws(Unexpected) -> String? {
    guard let part = try part(tag) else { return nil }
    return try string(at: part)
  }

  package mutating func string(_ tag: UInt8) throws(Unexpected) -> String { try string(at: try presentPart(tag)) }
}
