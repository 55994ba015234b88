// The values of messages, among them secrets and descriptors.

internal import Glibc
internal import Primitives

/// A D-Bus value of one of the types that Whorl's interfaces use.
///
/// It is Sendable; the sd-bus messages themselves stay on the loop's thread.
package indirect enum BusValue: Sendable, Hashable {
  case boolean(Bool)
  case byte(UInt8)
  case uint16(UInt16)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  /// `o`
  case objectPath(String)
  /// `ay`
  case bytes([UInt8])
  /// `ay` with a secret. Received only on a connection that reads bytes as secrets.
  case secret(BusSecret)
  /// An array of any other element type. An empty array needs the explicit signature.
  case array(of: String, [BusValue])
  case structure([BusValue])
  /// `a{sv}`. The variants are added and removed by this library.
  case dictionary([String: BusValue])
  /// `a{ss}`
  case texts([String: String])
  /// An element of an array of any other dictionary type, such as `{oa{sv}}`. Only sent.
  case entry(key: BusValue, BusValue)
  case variant(BusValue)
  /// `h`
  case descriptor(BusDescriptor)

  /// The D-Bus signature of this value.
  package var signature: String {
    switch self {
    case .boolean: "b"
    case .byte: "y"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .bytes, .secret: "ay"
    case .array(let element, _): "a\(element)"
    case .structure(let members): "(\(members.signature))"
    case .dictionary: "a{sv}"
    case .texts: "a{ss}"
    case .entry(let key, let value): "{\(key.signature)\(value.signature)}"
    case .variant: "v"
    case .descriptor: "h"
    }
  }
}

extension BusValue {
  /// The cost of this value in limits of memory: at least its size in a message, and at least the memory that a
  /// receiver needs for it.
  package var cost: Int {
    switch self {
    case .boolean, .byte, .uint16, .int32, .uint32, .int64, .uint64, .double, .descriptor: 64
    case .string(let text), .objectPath(let text): 64 + text.utf8.count
    case .bytes(let bytes): 64 + bytes.count
    case .secret(let secret): 64 + secret.count
    case .array(_, let values), .structure(let values): values.reduce(64) { $0 + $1.cost }
    case .dictionary(let entries): entries.reduce(64) { $0 + 128 + $1.key.utf8.count + $1.value.cost }
    case .texts(let entries): entries.reduce(64) { $0 + 192 + $1.key.utf8.count + $1.value.utf8.count }
    case .entry(let key, let value): 64 + key.cost + value.cost
    case .variant(let value): 64 + value.cost
    }
  }

  fileprivate var descriptors: [BusDescriptor] {
    switch self {
    case .descriptor(let descriptor): [descriptor]
    case .array(_, let values), .structure(let values): values.descriptors
    case .dictionary(let entries): entries.values.flatMap(\.descriptors)
    case .entry(_, let value), .variant(let value): value.descriptors
    default: []
    }
  }
}

extension [BusValue] {
  /// The sum of their costs.
  package var cost: Int { reduce(0) { $0 + $1.cost } }

  /// The descriptors in them.
  package var descriptors: [BusDescriptor] { flatMap(\.descriptors) }

  /// The concatenation of their D-Bus signatures.
  package var signature: String { map(\.signature).joined() }
}

// One accessor for each type. It returns nil if the value has another type. The numbers of another process are taken by
// `number(in:)`; the accessors of a number's own type are for tests, and `scripts/borders` refuses them elsewhere.
extension BusValue {
  /// A whole number of any type; nil if it is not in the range.
  package func number<Number: FixedWidthInteger>(in range: ClosedRange<Number>) -> Number? {
    switch self {
    case .byte(let value): OutsideNumber(value).number(in: range)
    case .uint16(let value): OutsideNumber(value).number(in: range)
    case .int32(let value): OutsideNumber(value).number(in: range)
    case .uint32(let value): OutsideNumber(value).number(in: range)
    case .int64(let value): OutsideNumber(value).number(in: range)
    case .uint64(let value): OutsideNumber(value).number(in: range)
    default: nil
    }
  }

  /// A whole number that is only compared: a number of a call, a user or a process, or flags.
  package func asIdentifier<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
    number(in: .min ... .max)
  }
  package var asBoolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
  package var asInt32: Int32? { if case .int32(let value) = self { value } else { nil } }
  package var asUInt16: UInt16? { if case .uint16(let value) = self { value } else { nil } }
  package var asUInt32: UInt32? { if case .uint32(let value) = self { value } else { nil } }
  package var asInt64: Int64? { if case .int64(let value) = self { value } else { nil } }
  package var asUInt64: UInt64? { if case .uint64(let value) = self { value } else { nil } }
  package var asDouble: Double? { if case .double(let value) = self { value } else { nil } }
  package var asString: String? { if case .string(let value) = self { value } else { nil } }
  package var asObjectPath: String? { if case .objectPath(let value) = self { value } else { nil } }
  package var asBytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  package var asSecret: (any WipedBytes)? { if case .secret(let value) = self { value.bytes } else { nil } }
  package var asArray: [BusValue]? { if case .array(_, let value) = self { value } else { nil } }
  package var asStructure: [BusValue]? { if case .structure(let value) = self { value } else { nil } }
  package var asDictionary: [String: BusValue]? { if case .dictionary(let value) = self { value } else { nil } }
  package var asTexts: [String: String]? { if case .texts(let value) = self { value } else { nil } }
  package var asVariant: BusValue? { if case .variant(let value) = self { value } else { nil } }
  package var asDescriptor: BusDescriptor? { if case .descriptor(let value) = self { value } else { nil } }
}

/// Memory for a secret, which is wiped when it is freed.
package protocol WipedBytes: AnyObject, Sendable {
  /// Copies the bytes.
  init(copying bytes: UnsafeRawBufferPointer)
  /// Lends the bytes. The pointer is valid only during the call.
  func lend<Value, Failure>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Value) throws(Failure) -> Value
}

/// An array of bytes in a message that is a secret. sd-bus wipes such a message when it frees it. Two secrets are equal
/// only if they are the same object.
package struct BusSecret: Sendable, Hashable {
  package let bytes: any WipedBytes

  package init(_ bytes: any WipedBytes) { self.bytes = bytes }

  package static func == (one: BusSecret, other: BusSecret) -> Bool { one.bytes === other.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(bytes)) }

  var count: Int { bytes.lend { $0.count } }
}

/// A file descriptor in a message (D-Bus type `h`). Owns the descriptor and closes it.
package final class BusDescriptor: Sendable {
  /// Valid as long as this object lives.
  package let rawValue: Int32

  /// Takes ownership of the descriptor.
  package init(taking descriptor: Int32) {
    rawValue = descriptor
  }

  deinit {
    close(rawValue)
  }
}

/// Two are equal if they are the same object: different descriptors of one file are different values.
extension BusDescriptor: Hashable {
  package static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
