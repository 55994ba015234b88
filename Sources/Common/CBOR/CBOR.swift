// CBOR: the part of CBOR that CTAP2 allows, in its canonical form. Begin with `CBORValue`; `COSEKey.swift` has the public
// keys that are written in it.

internal import CCBOR
internal import Primitives

/// A value in the subset of CBOR (RFC 8949) that CTAP2 uses.
package enum CBORValue: Sendable, Hashable {
  case unsigned(UInt64)
  /// The number -1 - n.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBORValue])
  case map([CBORValue: CBORValue])
  case bool(Bool)
  case null

  package init(_ number: Int) {
    // -1 - n is the complement of n.
    self = number < 0 ? .negative(UInt64(clamping: ~number)) : .unsigned(UInt64(clamping: number))
  }

  /// The number, if the value is one and fits.
  package var integer: Int? {
    switch self {
    case .unsigned(let number): Int(exactly: number)
    case .negative(let number): Int(exactly: number).map { ~$0 }
    default: nil
    }
  }

  package var byteString: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  package var string: String? { if case .text(let text) = self { text } else { nil } }
  package var elements: [CBORValue]? { if case .array(let elements) = self { elements } else { nil } }
  package var entries: [CBORValue: CBORValue]? { if case .map(let entries) = self { entries } else { nil } }
  package var boolean: Bool? { if case .bool(let value) = self { value } else { nil } }
}

extension CBORValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
  package init(integerLiteral value: Int) { self.init(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension CBORValue: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (CBORValue, CBORValue)...) {
    self = .map(Dictionary(elements) { first, _ in first })
  }
}

extension CBORValue: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: CBORValue...) { self = .array(elements) }
}

extension CBORValue {
  /// CTAP2's canonical form: the shortest numbers, definite lengths, and the keys of maps in order.
  package var encoded: [UInt8] {
    switch self {
    case .unsigned(let number): Self.head { cbor_encode_uint(number, $0, $1) }
    case .negative(let number): Self.head { cbor_encode_negint(number, $0, $1) }
    case .bytes(let bytes): Self.head { cbor_encode_bytestring_start(bytes.count, $0, $1) } + bytes
    case .text(let text): Self.head { cbor_encode_string_start(text.utf8.count, $0, $1) } + text.utf8
    case .array(let elements):
      elements.reduce(into: Self.head { cbor_encode_array_start(elements.count, $0, $1) }) { $0 += $1.encoded }
    case .map(let entries):
      entries.map { (key: $0.key.encoded, value: $0.value) }.sorted { Self.precedes($0.key, $1.key) }
        .reduce(into: Self.head { cbor_encode_map_start(entries.count, $0, $1) }) { $0 += $1.key + $1.value.encoded }
    case .bool(let value): Self.head { cbor_encode_bool(value, $0, $1) }
    case .null: Self.head { cbor_encode_null($0, $1) }
    }
  }

  /// The order of two encoded keys: by major type, then by length, then byte by byte.
  static func precedes(_ key: [UInt8], _ other: [UInt8]) -> Bool {
    let (type, otherType) = (key.first.map { $0 >> 5 } ?? 0, other.first.map { $0 >> 5 } ?? 0)
    if type != otherType { return type < otherType }
    if key.count != other.count { return key.count < other.count }
    return key.lexicographicallyPrecedes(other)
  }

  /// The bytes that a function of libcbor writes: at most nine.
  static func head(_ write: (UnsafeMutablePointer<UInt8>?, Int) -> Int) -> [UInt8] {
    Array(unsafeUninitializedCapacity: 9) { buffer, count in
      // Writes at most the given number of bytes into the borrowed buffer.
      count = write(buffer.baseAddress, 9)
    }
  }
}

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
