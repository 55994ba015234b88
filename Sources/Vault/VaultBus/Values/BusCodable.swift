internal import SDBus
internal import SecretModel

/// A value that can be sent over the bus.
///
/// Text that programs or people choose is sent as the bytes of its UTF-8 (`ay`), because a D-Bus string cannot hold
/// every Unicode scalar. The words of the interface itself are D-Bus strings (`s`).
protocol BusCodable {
  /// The D-Bus signature of every value of this type.
  static var busSignature: String { get }
  var busValue: BusValue { get }
  /// - Throws: `invalidRequest` where the value is not one of this type.
  init(bus value: BusValue) throws(VaultError)
}

extension VaultError {
  /// A message that cannot be read.
  static func unreadable(_ what: String) -> VaultError { .invalidRequest("\(what) cannot be read") }

  static func unreadable(_ type: Any.Type) -> VaultError { .unreadable("\(type)") }
}

/// Enumerations whose raw values are words of the interface.
extension BusCodable where Self: RawRepresentable, RawValue == String {
  static var busSignature: String { "s" }
  var busValue: BusValue { .string(rawValue) }
  init(bus value: BusValue) throws(VaultError) {
    guard let word = value.asString, let known = Self(rawValue: word) else { throw .unreadable(Self.self) }
    self = known
  }
}

extension Bool: BusCodable {
  static var busSignature: String { "b" }
  var busValue: BusValue { .boolean(self) }
  init(bus value: BusValue) throws(VaultError) {
    guard let value = value.asBoolean else { throw .unreadable(Self.self) }
    self = value
  }
}

extension UInt16: BusCodable {
  static var busSignature: String { "q" }
  var busValue: BusValue { .uint16(self) }
  init(bus value: BusValue) throws(VaultError) {
    guard let value = value.asIdentifier(UInt16.self) else { throw .unreadable(Self.self) }
    self = value
  }
}

/// A count, a place, a size or a limit; -1 for none. Others are refused: so the sum of some of them cannot overflow.
extension Int: BusCodable {
  static var busSignature: String { "x" }
  var busValue: BusValue { .int64(Int64(clamping: self)) }
  init(bus value: BusValue) throws(VaultError) { self = try Int(bus: value, in: -1...0x20_0000_0000_0000) }

  init(bus value: BusValue, in range: ClosedRange<Int>) throws(VaultError) {
    guard let number = value.number(in: range) else { throw .unreadable("a number") }
    self = number
  }
}

/// A number that is only kept, compared and shown: an attribute, or a time. It may be any.
extension Int64: BusCodable {
  static var busSignature: String { "x" }
  var busValue: BusValue { .int64(self) }
  init(bus value: BusValue) throws(VaultError) {
    guard let value = value.asIdentifier(Int64.self) else { throw .unreadable(Self.self) }
    self = value
  }
}

extension Double: BusCodable {
  static var busSignature: String { "d" }
  var busValue: BusValue { .double(self) }
  init(bus value: BusValue) throws(VaultError) {
    guard let value = value.asDouble else { throw .unreadable(Self.self) }
    self = value
  }
}

extension String: BusCodable {
  static var busSignature: String { "ay" }
  var busValue: BusValue { .bytes(Array(utf8)) }
  init(bus value: BusValue) throws(VaultError) {
    guard let bytes = value.asBytes, let text = String(validating: bytes, as: UTF8.self) else {
      throw .unreadable("text")
    }
    self = text
  }
}

/// Nanoseconds.
extension Duration: BusCodable {
  static var busSignature: String { "x" }
  var busValue: BusValue {
    let (seconds, attoseconds) = components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return .int64(seconds < 0 ? .min : .max) }
    let (sum, overflowOfSum) = nanoseconds.addingReportingOverflow(attoseconds / 1_000_000_000)
    return .int64(overflowOfSum ? (seconds < 0 ? .min : .max) : sum)
  }
  init(bus value: BusValue) throws(VaultError) {
    guard let nanoseconds = value.asIdentifier(Int64.self) else { throw .unreadable(Self.self) }
    self = .nanoseconds(nanoseconds)
  }
}

extension Array: BusCodable where Element: BusCodable {
  static var busSignature: String { "a" + Element.busSignature }
  var busValue: BusValue { .array(of: Element.busSignature, map(\.busValue)) }
  init(bus value: BusValue) throws(VaultError) {
    guard case .array(Element.busSignature, let elements) = value else { throw .unreadable(Self.self) }
    self = []
    reserveCapacity(elements.count)
    for element in elements { append(try Element(bus: element)) }
  }
}

/// Bytes that this layer does not interpret.
struct Octets: BusBytes {
  let bytes: [UInt8]
}

/// A value that is only bytes.
protocol BusBytes: BusCodable {
  var bytes: [UInt8] { get }
  init(bytes: [UInt8])
}

extension BusBytes {
  static var busSignature: String { "ay" }
  var busValue: BusValue { .bytes(bytes) }
  init(bus value: BusValue) throws(VaultError) {
    guard let bytes = value.asBytes else { throw .unreadable(Self.self) }
    self.init(bytes: bytes)
  }
}

extension BusBytes {
  /// An optional value as an argument: no bytes for nil.
  static func argument(_ value: Self?) -> BusValue { .bytes(value?.bytes ?? []) }

  /// Decodes ``argument(_:)``.
  static func optional(bus value: BusValue) throws(VaultError) -> Self? {
    let read = try Self(bus: value)
    return read.bytes.isEmpty ? nil : read
  }
}

extension ItemID: BusBytes {}
extension ItemCursor: BusBytes {}
extension ContextHandle: BusBytes {}
extension StoreDraft.ID: BusBytes {}
extension DetectedRestore.ID: BusBytes {
  var bytes: [UInt8] { digest }
  init(bytes: [UInt8]) { self.init(digest: bytes) }
}
