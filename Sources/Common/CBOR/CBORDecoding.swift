internal import CCBOR
internal import Primitives

/// Why bytes are not a value in CTAP2's canonical form.
package enum CBORError: Error, Sendable, Hashable {
  /// The bytes end within a value.
  case incomplete
  /// Bytes follow the value.
  case trailing
  /// A number or length is not in its shortest form, or a length is indefinite.
  case notShortest
  /// A tag, a floating-point number or another type that CTAP2 does not use; or a text that is not UTF-8.
  case unsupported
  /// The keys of a map are not in order, or a key occurs twice.
  case keyOrder
  /// More than four levels of arrays and maps.
  case tooDeep
}

extension CBORValue {
  /// The maximum number of levels of arrays and maps in a CTAP2 message.
  package static let depthLimit = 4

  /// Reads one value that fills `bytes`, in CTAP2's canonical form.
  package init(decoding bytes: some Collection<UInt8>) throws(CBORError) {
    var reader = CBORReader(bytes: Array(bytes))
    self = try reader.value(depth: 0)
    guard reader.isAtEnd else { throw .trailing }
  }

  /// Reads the first of several values, and returns its length in bytes.
  package static func first(in bytes: some Collection<UInt8>) throws(CBORError) -> (value: CBORValue, count: Int) {
    var reader = CBORReader(bytes: Array(bytes))
    let value = try reader.value(depth: 0)
    return (value, reader.position)
  }
}

private struct CBORReader {
  let bytes: [UInt8]
  var position = 0

  var isAtEnd: Bool { position == bytes.count }

  mutating func value(depth: Int) throws(CBORError) -> CBORValue {
    let start = position
    let (kind, number, string) = try head()
    switch kind {
    case 0: return .unsigned(number)
    case 1: return .negative(number)
    case 2: return .bytes(string)
    case 3:
      guard let text = String(validating: string, as: UTF8.self) else { throw .unsupported }
      return .text(text)
    case 4:
      let count = try count(number, depth)
      var elements: [CBORValue] = []
      for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
      return .array(elements)
    case 5:
      let count = try count(number, depth)
      var entries: [CBORValue: CBORValue] = [:]
      var last: [UInt8]?
      for _ in 0..<count {
        let start = position
        let key = try value(depth: depth + 1)
        let encoded = Array(bytes[start..<position])
        if let last, !CBORValue.precedes(last, encoded) { throw .keyOrder }
        last = encoded
        // Keys with different bytes may be equal: Swift compares texts by canonical equivalence.
        guard entries.updateValue(try value(depth: depth + 1), forKey: key) == nil else { throw .keyOrder }
      }
      return .map(entries)
    default:
      switch bytes[start] {
      case 0xF4: return .bool(false)
      case 0xF5: return .bool(true)
      case 0xF6: return .null
      default: throw .unsupported
      }
    }
  }

  /// The number of elements, each of which has at least a byte.
  private func count(_ number: UInt64, _ depth: Int) throws(CBORError) -> Int {
    guard depth < CBORValue.depthLimit else { throw .tooDeep }
    guard let count = OutsideNumber(number).number(in: 0...bytes.count - position) else { throw .incomplete }
    return count
  }

  /// Reads a head, with the bytes of a string.
  private mutating func head() throws(CBORError) -> (kind: Int32, number: UInt64, string: [UInt8]) {
    var head = whorl_cbor_head()
    let start = position
    guard start < bytes.count else { throw .incomplete }
    let (read, string) = bytes.withUnsafeBufferPointer { all in
      // Borrows the rest of the bytes. The bytes of a string are borrowed from them, and copied here.
      let read = whorl_cbor_read(all.baseAddress.map { $0 + start }, all.count - start, &head)
      let length = OutsideNumber(head.value).number(in: 0...all.count - start) ?? 0
      return (read, head.bytes.map { Array(UnsafeBufferPointer(start: $0, count: length)) } ?? [])
    }
    let initial = bytes[start]
    guard read > 0 else {
      // Reserved and indefinite forms of numbers and lengths, and simple values that libcbor does not read.
      throw initial >> 5 >= 6 ? .unsupported : initial & 31 > 27 ? .notShortest : .incomplete
    }
    position += read
    guard head.kind >= 0 else { throw initial >> 5 < 6 ? .notShortest : .unsupported }
    let shortest = CBORValue.head(kind: head.kind, head.value)
    guard bytes[start...].starts(with: shortest) else { throw .notShortest }
    return (head.kind, head.value, string)
  }
}

extension CBORValue {
  /// The shortest head of an item of a major type.
  fileprivate static func head(kind: Int32, _ value: UInt64) -> [UInt8] {
    switch kind {
    case 0: head { cbor_encode_uint(value, $0, $1) }
    case 1: head { cbor_encode_negint(value, $0, $1) }
    // Only the bits matter: a count may be any number.
    case 2: head { cbor_encode_bytestring_start(Int(truncatingIfNeeded: value), $0, $1) }
    case 3: head { cbor_encode_string_start(Int(truncatingIfNeeded: value), $0, $1) }
    case 4: head { cbor_encode_array_start(Int(truncatingIfNeeded: value), $0, $1) }
    case 5: head { cbor_encode_map_start(Int(truncatingIfNeeded: value), $0, $1) }
    default: head { cbor_encode_ctrl(UInt8(truncatingIfNeeded: value), $0, $1) }
    }
  }
}
