internal import Primitives
internal import SDBus
internal import SecretModel

/// Fields that have a number beside their key.
protocol NumberedFields<Whole> {
  associatedtype Whole
  mutating func callAsFunction<Value: PackedValue>(
    _ number: UInt8, _ key: String, _ field: (Whole) -> Value
  ) throws -> Value
}

/// A record has the keys.
extension Fields: NumberedFields {
  mutating func callAsFunction<Value: PackedValue>(
    _ number: UInt8, _ key: String, _ field: (Whole) -> Value
  ) throws -> Value {
    try self(key, field)
  }
}

/// The fields of an item as bytes, in the format of ``CanonicalEncoding``, in the order of their numbers.
struct PackedFields<Whole>: NumberedFields {
  /// The value that is written; nil where one is read.
  private let whole: Whole?
  private var written = CanonicalEncoding()
  private var rest: CanonicalDecoder

  init(_ bytes: [UInt8]) { (whole, rest) = (nil, CanonicalDecoder(bytes)) }

  private init(writing whole: Whole) { (self.whole, rest) = (whole, CanonicalDecoder([])) }

  /// The bytes of the fields that `name` names.
  static func bytes(of whole: Whole, _ name: (inout PackedFields) throws -> Whole) -> [UInt8] {
    var fields = PackedFields(writing: whole)
    do { _ = try name(&fields) } catch { assertionFailure("\(Whole.self) refuses itself: \(error)") }
    return fields.written.bytes
  }

  var isAtEnd: Bool { rest.isAtEnd }

  mutating func callAsFunction<Value: PackedValue>(
    _ number: UInt8, _ key: String, _ field: (Whole) -> Value
  ) throws -> Value {
    guard let whole else { return try Value(number, from: &rest) }
    let value = field(whole)
    value.pack(number, into: &written)
    return value
  }

  mutating func callAsFunction<Value: PackedValue>(
    _ number: UInt8, _ key: String, _ field: (Whole) -> Value?
  ) throws -> Value? {
    guard let whole else { return try rest.isAbsent(number) ? nil : try Value(number, from: &rest) }
    let value = field(whole)
    if let value { value.pack(number, into: &written) } else { written.appendAbsence(tag: number) }
    return value
  }
}

/// A value that is a part of ``CanonicalEncoding``.
protocol PackedValue: BusCodable {
  func pack(_ tag: UInt8, into parts: inout CanonicalEncoding)
  init(_ tag: UInt8, from parts: inout CanonicalDecoder) throws
}

extension PackedValue where Self: RawRepresentable, RawValue == String {
  func pack(_ tag: UInt8, into parts: inout CanonicalEncoding) { parts.append(tag: tag, rawValue) }
  init(_ tag: UInt8, from parts: inout CanonicalDecoder) throws {
    guard let known = Self(rawValue: try parts.string(tag)) else { throw BusValueError.unreadable(Self.self) }
    self = known
  }
}

extension Double: PackedValue {
  func pack(_ tag: UInt8, into parts: inout CanonicalEncoding) { parts.append(tag: tag, bitPattern) }
  init(_ tag: UInt8, from parts: inout CanonicalDecoder) throws { self.init(bitPattern: try parts.number(tag)) }
}
