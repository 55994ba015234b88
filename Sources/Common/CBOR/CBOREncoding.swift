internal import CCBOR

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
