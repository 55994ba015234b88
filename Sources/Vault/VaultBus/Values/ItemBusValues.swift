internal import SDBus
internal import SecretModel

extension ItemClass: BusCodable {}
extension Item.State: BusCodable {}
extension Accessibility: BusCodable {}
extension SessionRefusal: BusCodable {}

/// A name on the bus. A name that the vault sends may be of any item.
extension ItemName: BusCodable {
  static var busSignature: String { "(ayay)" }
  var busValue: BusValue { .structure([service.busValue, account.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    let (service, account) = try Self.parts(of: value)
    self.init(unchecked: service, account: account)
  }

  /// A name that a client sent, which must follow the rules for names.
  init(checking value: BusValue) throws(VaultError) {
    let (service, account) = try Self.parts(of: value)
    try self.init(service: service, account: account)
  }

  private static func parts(of value: BusValue) throws(VaultError) -> (service: String, account: String) {
    guard let parts = value.asStructure, parts.count == 2 else { throw .unreadable(Self.self) }
    return (try String(bus: parts[0]), try String(bus: parts[1]))
  }
}

extension AttributeName: BusCodable {
  static var busSignature: String { "ay" }
  var busValue: BusValue { rawValue.busValue }
  init(bus value: BusValue) throws(VaultError) { self.init(rawValue: try String(bus: value)) }
}

/// The kind of the value and the value.
extension AttributeValue: BusCodable {
  static var busSignature: String { "(sv)" }

  var busValue: BusValue {
    let (kind, value): (String, BusValue) =
      switch self {
      case .text(let text): ("text", text.busValue)
      case .bytes(let bytes): ("bytes", .bytes(bytes))
      case .number(let number): ("number", number.busValue)
      case .date(let date): ("date", date.busValue)
      }
    return .structure([.string(kind), .variant(value)])
  }

  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2, let value = parts[1].asVariant else {
      throw .unreadable(Self.self)
    }
    switch parts[0].asString {
    case "text": self = .text(try String(bus: value))
    case "bytes": self = .bytes(try Octets(bus: value).bytes)
    case "number": self = .number(try Int64(bus: value))
    case "date": self = .date(try Double(bus: value))
    default: throw .unreadable(Self.self)
    }
  }
}

/// Attributes, in the order of their names.
struct Attributes: BusCodable {
  let values: [AttributeName: AttributeValue]

  init(_ values: [AttributeName: AttributeValue]) { self.values = values }

  static var busSignature: String { "a(ay(sv))" }

  var busValue: BusValue {
    .array(
      of: "(ay(sv))",
      values.sorted { $0.key < $1.key }.map { .structure([$0.key.busValue, $0.value.busValue]) })
  }

  init(bus value: BusValue) throws(VaultError) {
    guard let entries = value.asArray else { throw .unreadable(Self.self) }
    var values: [AttributeName: AttributeValue] = [:]
    for entry in entries {
      guard let parts = entry.asStructure, parts.count == 2 else { throw .unreadable(Self.self) }
      // Refuse a name that occurs twice: it would be unclear which value is meant.
      guard values.updateValue(try AttributeValue(bus: parts[1]), forKey: try AttributeName(bus: parts[0])) == nil
      else { throw .unreadable(Self.self) }
    }
    self.values = values
  }
}

extension AccessControl: BusCodable {
  static var busSignature: String { "t" }
  var busValue: BusValue { .uint64(flags.rawValue) }
  /// - Throws: `invalidAccessControl` for flags that have no meaning.
  init(bus value: BusValue) throws(VaultError) { try self.init(try Flags(bus: value)) }
}

extension AccessControl.Flags: BusCodable {
  static var busSignature: String { "t" }
  var busValue: BusValue { .uint64(rawValue) }
  init(bus value: BusValue) throws(VaultError) {
    guard let bits = value.asIdentifier(UInt64.self) else { throw .unreadable(Self.self) }
    self.init(rawValue: bits)
  }
}

extension NewItem: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "class": itemClass.busValue, "attributes": Attributes(attributes).busValue, "access": access.busValue,
      "accessible": accessibility.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      try record.take("class"), try record.take("attributes", as: Attributes.self).values,
      access: try record.take("access"), accessibility: try record.take("accessible"))
    try record.end()
  }
}

extension ItemChange: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "set": Attributes(attributes.compactMapValues { $0 }).busValue,
      "remove": attributes.filter { $0.value == nil }.keys.sorted().busValue,
      "access": access?.busValue, "accessible": accessibility?.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    var attributes: [AttributeName: AttributeValue?] = try record.take("set", as: Attributes.self).values
    for name in try record.take("remove", as: [AttributeName].self) {
      guard attributes.updateValue(nil, forKey: name) == nil else { throw .unreadable(Self.self) }
    }
    self.init(
      attributes: attributes, access: try record.takeIfPresent("access"),
      accessibility: try record.takeIfPresent("accessible"))
    try record.end()
  }
}
