internal import CBOR

/// The entries of a map in a request. Missing entries and those of the wrong type have different status codes.
struct CTAPFields: Sendable, Hashable {
  let entries: [CBORValue: CBORValue]

  init(_ value: CBORValue) throws(CTAPStatus) {
    guard let entries = value.entries else { throw .unexpectedType }
    self.entries = entries
  }

  /// The parameters of a command. A command without any is an empty map.
  init(decoding bytes: ArraySlice<UInt8>) throws(CTAPStatus) {
    guard let value = bytes.isEmpty ? [:] : try? CBORValue(decoding: bytes) else { throw .invalidCBOR }
    try self.init(value)
  }

  subscript(key: CBORValue) -> CBORValue? { entries[key] }

  /// The entry; nil if it is missing. Throws ``CTAPStatus/unexpectedType`` if `read` returns nil.
  func optional<T>(_ key: CBORValue, _ read: (CBORValue) -> T?) throws(CTAPStatus) -> T? {
    guard let value = entries[key] else { return nil }
    guard let result = read(value) else { throw .unexpectedType }
    return result
  }

  func required<T>(_ key: CBORValue, _ read: (CBORValue) -> T?) throws(CTAPStatus) -> T {
    guard let result = try optional(key, read) else { throw .missingParameter }
    return result
  }

  func fields(_ key: CBORValue) throws(CTAPStatus) -> CTAPFields? {
    guard let value = entries[key] else { return nil }
    return try CTAPFields(value)
  }
}
