/// Reads the parts that ``CanonicalEncoding`` wrote, in the same order. Anything unexpected is an error: the bytes have
/// been authenticated, so they come from another version or from a defect.
package struct CanonicalDecoder {
  /// The next part is not the one expected.
  package struct Unexpected: Error {
    package init() {}
  }

  private let bytes: [UInt8]
  private var offset = 0

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  package var isAtEnd: Bool { offset == bytes.count }

  /// The tag of the next part; nil at the end.
  package var nextTag: UInt8? { isAtEnd ? nil : bytes[offset] }

  /// The next part, or nil if it was written as absent.
  package mutating func optionalBytes(_ tag: UInt8) throws(Unexpected) -> [UInt8]? {
    guard bytes.count - offset >= 5, bytes[offset] == tag else { throw Unexpected() }
    let length = bytes[offset + 1..<offset + 5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let start = offset + 5
    if length == UInt32.max {
      offset = start
      return nil
    }
    guard bytes.count - start >= Int(length) else { throw Unexpected() }
    offset = start + Int(length)
    return Array(bytes[start..<offset])
  }

  package mutating func bytes(_ tag: UInt8) throws(Unexpected) -> [UInt8] {
    guard let part = try optionalBytes(tag) else { throw Unexpected() }
    return part
  }

  package mutating func optionalNumber(_ tag: UInt8) throws(Unexpected) -> UInt64? {
    guard let part = try optionalBytes(tag) else { return nil }
    guard part.count == 8 else { throw Unexpected() }
    return part.reduce(0) { $0 << 8 | UInt64($1) }
  }

  package mutating func number(_ tag: UInt8) throws(Unexpected) -> UInt64 {
    guard let number = try optionalNumber(tag) else { throw Unexpected() }
    return number
  }

  package mutating func optionalString(_ tag: UInt8) throws(Unexpected) -> String? {
    guard let part = try optionalBytes(tag) else { return nil }
    guard let text = String(validating: part, as: UTF8.self) else { throw Unexpected() }
    return text
  }

  package mutating func string(_ tag: UInt8) throws(Unexpected) -> String {
    guard let text = try optionalString(tag) else { throw Unexpected() }
    return text
  }
}
