/// What takes one or more places in a message, one after another. Most take one (``BusCodable``).
package protocol BusParts: Sendable {
  /// The D-Bus signature of every value of this type.
  static var busSignature: String { get }
  /// How many places in a message it takes.
  static var places: Int { get }
  func busValues() throws -> [BusValue]
  /// - Parameter values: as many as ``places``, but each may be of any type.
  init(bus values: [BusValue]) throws
}

/// A value that can be sent in one place of a message, or within another value.
///
/// A record or a structure names its fields once, for both directions: see ``BusFields`` and ``BusChoice``.
///
/// Text that programs or people choose is sent as the bytes of its UTF-8 (`ay`), because a D-Bus string cannot hold
/// every Unicode scalar. The words of an interface itself are D-Bus strings (`s`).
package protocol BusCodable: BusParts {
  var busValue: BusValue { get }
  /// - Throws: where the value is not one of this type: a ``BusValueError``, or an error of the type's own rules.
  init(bus value: BusValue) throws
  /// A list of values; bytes have a form of their own.
  static func list(_ values: [Self]) -> BusValue
  static func values(ofList list: BusValue) throws -> [Self]
}

/// Why a value cannot be read.
package enum BusValueError: Error, Hashable {
  case unreadable(what: String)
  /// A request has a field, or a kind, that this program does not know. Ignoring it could mean to do more than was asked
  /// for.
  case unknownField(String, of: String)

  package static func unreadable(_ type: Any.Type) -> Self { .unreadable(what: "\(type)") }
}

extension BusCodable {
  package static var places: Int { 1 }
  package func busValues() throws -> [BusValue] { [busValue] }
  package init(bus values: [BusValue]) throws { try self.init(bus: values[0]) }

  package static func list(_ values: [Self]) -> BusValue { .array(of: busSignature, values.map(\.busValue)) }

  package static func values(ofList list: BusValue) throws -> [Self] {
    guard case .array(busSignature, let elements) = list else { throw BusValueError.unreadable([Self].self) }
    return try elements.map { try Self(bus: $0) }
  }
}

/// Enumerations whose raw values are words of the interface.
extension BusCodable where Self: RawRepresentable, RawValue == String {
  package static var busSignature: String { "s" }
  package var busValue: BusValue { .string(rawValue) }
  package init(bus value: BusValue) throws {
    guard let word = value.asString, let known = Self(rawValue: word) else { throw BusValueError.unreadable(Self.self) }
    self = known
  }
}

extension Bool: BusCodable {
  package static var busSignature: String { "b" }
  package var busValue: BusValue { .boolean(self) }
  package init(bus value: BusValue) throws {
    guard let value = value.asBoolean else { throw BusValueError.unreadable(Self.self) }
    self = value
  }
}

/// One byte of a list: lists of bytes are `ay`.
extension UInt8: BusCodable {
  package static var busSignature: String { "y" }
  package var busValue: BusValue { .byte(self) }
  package init(bus value: BusValue) throws { self = try value.identifier() }

  package static func list(_ values: [UInt8]) -> BusValue { .bytes(values) }

  package static func values(ofList list: BusValue) throws -> [UInt8] {
    guard let bytes = list.asBytes else { throw BusValueError.unreadable([UInt8].self) }
    return bytes
  }
}

extension UInt16: BusCodable {
  package static var busSignature: String { "q" }
  package var busValue: BusValue { .uint16(self) }
  package init(bus value: BusValue) throws { self = try value.identifier() }
}

/// A number that is only compared, or flags.
extension UInt64: BusCodable {
  package static var busSignature: String { "t" }
  package var busValue: BusValue { .uint64(self) }
  package init(bus value: BusValue) throws { self = try value.identifier() }
}

/// A number that is only kept, compared and shown: an attribute, or a time. It may be any.
extension Int64: BusCodable {
  package static var busSignature: String { "x" }
  package var busValue: BusValue { .int64(self) }
  package init(bus value: BusValue) throws { self = try value.identifier() }
}

/// A count, a place, a size or a limit; -1 for none. Others are refused: so the sum of some of them cannot overflow.
extension Int: BusCodable {
  package static var busSignature: String { "x" }
  package var busValue: BusValue { .int64(Int64(clamping: self)) }
  package init(bus value: BusValue) throws { try self.init(bus: value, in: -1...0x20_0000_0000_0000) }

  package init(bus value: BusValue, in range: ClosedRange<Int>) throws {
    guard let number = value.number(in: range) else { throw BusValueError.unreadable(what: "a number") }
    self = number
  }
}

extension BusValue {
  fileprivate func identifier<Number: FixedWidthInteger>() throws -> Number {
    guard let number = asIdentifier(Number.self) else { throw BusValueError.unreadable(Number.self) }
    return number
  }
}

extension Double: BusCodable {
  package static var busSignature: String { "d" }
  package var busValue: BusValue { .double(self) }
  package init(bus value: BusValue) throws {
    guard let value = value.asDouble else { throw BusValueError.unreadable(Self.self) }
    self = value
  }
}

extension String: BusCodable {
  package static var busSignature: String { "ay" }
  package var busValue: BusValue { .bytes(Array(utf8)) }
  package init(bus value: BusValue) throws {
    guard let bytes = value.asBytes, let text = String(validating: bytes, as: UTF8.self) else {
      throw BusValueError.unreadable(what: "text")
    }
    self = text
  }
}

/// A word of the interface, to be looked up by the reader.
package struct Word: BusCodable, Hashable {
  package let word: String

  package init(_ word: String) { self.word = word }

  package static var busSignature: String { "s" }
  package var busValue: BusValue { .string(word) }
  package init(bus value: BusValue) throws {
    guard let word = value.asString else { throw BusValueError.unreadable(Self.self) }
    self.word = word
  }
}

/// A word of an enumeration, or an empty one for none.
package struct OptionalWord<Value: RawRepresentable<String> & Sendable>: BusCodable {
  package let value: Value?

  package init(_ value: Value?) { self.value = value }

  package static var busSignature: String { "s" }
  package var busValue: BusValue { .string(value?.rawValue ?? "") }
  package init(bus value: BusValue) throws {
    let word = try Word(bus: value).word
    self.value = Value(rawValue: word)
    guard self.value != nil || word.isEmpty else { throw BusValueError.unreadable(Value.self) }
  }
}

/// Nanoseconds.
extension Duration: BusCodable {
  package static var busSignature: String { "x" }
  package var busValue: BusValue {
    let (seconds, attoseconds) = components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return .int64(seconds < 0 ? .min : .max) }
    let (sum, overflowOfSum) = nanoseconds.addingReportingOverflow(attoseconds / 1_000_000_000)
    return .int64(overflowOfSum ? (seconds < 0 ? .min : .max) : sum)
  }
  package init(bus value: BusValue) throws { self = .nanoseconds(try Int64(bus: value)) }
}

extension Array: BusParts where Element: BusCodable {}

extension Array: BusCodable where Element: BusCodable {
  package static var busSignature: String { "a" + Element.busSignature }
  package var busValue: BusValue { Element.list(self) }
  package init(bus value: BusValue) throws { self = try Element.values(ofList: value) }
}

/// A file, a socket, or a secret in a sealed memory file. The message that it came with closes the descriptor.
package struct BusFile: BusCodable {
  package let descriptor: BusDescriptor

  package init(_ descriptor: BusDescriptor) { self.descriptor = descriptor }

  package static var busSignature: String { "h" }
  package var busValue: BusValue { .descriptor(descriptor) }
  package init(bus value: BusValue) throws {
    guard let descriptor = value.asDescriptor else { throw BusValueError.unreadable(what: "a descriptor") }
    self.descriptor = descriptor
  }
}

/// A value that is only bytes.
package protocol BusBytes: BusCodable {
  var bytes: [UInt8] { get }
  init(bytes: [UInt8])
}

extension BusBytes {
  package static var busSignature: String { "ay" }
  package var busValue: BusValue { .bytes(bytes) }
  package init(bus value: BusValue) throws { self.init(bytes: try [UInt8](bus: value)) }
}

/// The values of a message on their way, one after another. What is written is passed through, and replaced by what is read.
package struct MessageFields {
  private var values: [BusValue]
  /// The place of the next value that is read; nil while writing.
  private var next: Int?

  package mutating func callAsFunction<Value: BusParts>(_ value: Value) throws -> Value {
    guard let place = next else {
      values += try value.busValues()
      return value
    }
    guard place + Value.places <= values.count else { throw BusValueError.unreadable(Value.self) }
    next = place + Value.places
    return try Value(bus: Array(values[place..<place + Value.places]))
  }

  /// The values that `pass` passes through.
  package static func written(_ pass: (inout MessageFields) throws -> Void) -> [BusValue] {
    var fields = MessageFields(values: [], next: nil)
    do { try pass(&fields) } catch { assertionFailure("\(error)") }
    return fields.values
  }

  /// What `pass` makes of all of these values.
  package static func read<Whole>(
    _ values: [BusValue], _ pass: (inout MessageFields) throws -> Whole
  ) throws -> Whole {
    var fields = MessageFields(values: values, next: 0)
    let whole = try pass(&fields)
    guard fields.next == values.count else { throw BusValueError.unreadable(Whole.self) }
    return whole
  }
}
