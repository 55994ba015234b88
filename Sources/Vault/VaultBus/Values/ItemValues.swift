internal import Primitives
package import SDBus
package import SecretModel

extension ItemID: BusBytes {}
extension ItemCursor: BusBytes {}
extension ItemClass: BusCodable {}
extension Item.State: BusCodable {}
extension Accessibility: BusCodable {}

extension BusBytes {
  /// An optional value as an argument has no bytes for nil.
  init?(unlessEmpty bytes: [UInt8]) {
    guard !bytes.isEmpty else { return nil }
    self.init(bytes: bytes)
  }
}

/// A name that the vault sends may be of any item.
extension ItemName: BusStructure {
  package static var busSignature: String { "(ayay)" }
  package init(_ f: inout Fields<Self>) throws {
    self.init(unchecked: try f("service", \.service), account: try f("account", \.account))
  }
}

/// A name that a client sends must follow the rules for names.
private struct RequestedName: BusStructure {
  let name: ItemName

  static var busSignature: String { ItemName.busSignature }
  init(_ name: ItemName) { self.name = name }
  init(_ f: inout Fields<Self>) throws {
    name = try ItemName(service: try f("service", \.name.service), account: try f("account", \.name.account))
  }
}

extension AccessControl: BusCodable {
  package static var busSignature: String { "t" }
  package var busValue: BusValue { .uint64(flags.rawValue) }
  /// - Throws: `invalidAccessControl` for flags that have no meaning.
  package init(bus value: BusValue) throws { try self.init(try Flags(bus: value)) }
}

extension AccessControl.Flags: BusCodable {
  package static var busSignature: String { "t" }
  package var busValue: BusValue { .uint64(rawValue) }
  package init(bus value: BusValue) throws { self.init(rawValue: try UInt64(bus: value)) }
}

// MARK: Attributes

extension AttributeName: BusCodable {
  package static var busSignature: String { "ay" }
  package var busValue: BusValue { rawValue.busValue }
  package init(bus value: BusValue) throws { self.init(rawValue: try String(bus: value)) }
}

/// The kind of the value and the value.
extension AttributeValue: BusCodable {
  package static var busSignature: String { "(sv)" }

  package var busValue: BusValue {
    let (kind, value): (String, BusValue) =
      switch self {
      case .text(let text): ("text", text.busValue)
      case .bytes(let bytes): ("bytes", bytes.busValue)
      case .number(let number): ("number", number.busValue)
      case .date(let date): ("date", date.busValue)
      }
    return .structure([.string(kind), .variant(value)])
  }

  package init(bus value: BusValue) throws {
    guard let parts = value.asStructure, parts.count == 2, let value = parts[1].asVariant else {
      throw BusValueError.unreadable(Self.self)
    }
    switch parts[0].asString {
    case "text": self = .text(try String(bus: value))
    case "bytes": self = .bytes(try [UInt8](bus: value))
    case "number": self = .number(try Int64(bus: value))
    case "date": self = .date(try Double(bus: value))
    default: throw BusValueError.unreadable(Self.self)
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

  init(bus value: BusValue) throws {
    guard let entries = value.asArray else { throw BusValueError.unreadable(Self.self) }
    var values: [AttributeName: AttributeValue] = [:]
    for entry in entries {
      guard let parts = entry.asStructure, parts.count == 2 else { throw BusValueError.unreadable(Self.self) }
      // Refuse a name that occurs twice: it would be unclear which value is meant.
      guard values.updateValue(try AttributeValue(bus: parts[1]), forKey: try AttributeName(bus: parts[0])) == nil
      else { throw BusValueError.unreadable(Self.self) }
    }
    self.values = values
  }
}

// MARK: Items

/// One array of bytes, with the numbers of its fields (``PackedFields``): lists of a thousand items are too slow as D-Bus
/// containers (decision 0046).
extension Item: BusCodable {
  package static var busSignature: String { "ay" }
  package var busValue: BusValue { .bytes(PackedFields.bytes(of: self) { try Self(&$0) }) }

  /// Ignores what follows the known fields: a newer vault may add some.
  package init(bus value: BusValue) throws {
    var fields = PackedFields<Self>(try [UInt8](bus: value))
    try self.init(&fields)
  }

  private init(_ f: inout PackedFields<Self>) throws {
    self.init(
      id: try f(1, "id", \.id), state: try f(2, "state", \.state), itemClass: try f(3, "class", \.itemClass),
      attributes: try f(4, "attributes") { Attributes($0.attributes) }.values,
      // Unchecked, since an item of a newer program may have a flag that this one does not know.
      access: AccessControl(unchecked: try f(5, "access", \.access.flags)),
      accessibility: try f(6, "accessible", \.accessibility), created: try f(7, "created", \.created),
      modified: try f(8, "modified", \.modified))
  }
}

/// A record; in lists of new items, one array of bytes.
extension NewItem: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws { try self.init(numbered: &f) }

  private init<Coder: NumberedFields<NewItem>>(numbered f: inout Coder) throws {
    self.init(
      try f(3, "class", \.itemClass), try f(4, "attributes") { Attributes($0.attributes) }.values,
      access: try f(5, "access", \.access), accessibility: try f(6, "accessible", \.accessibility))
  }

  var packed: [UInt8] { PackedFields.bytes(of: self) { try Self(numbered: &$0) } }

  /// Refuses unknown fields, as every request does.
  init(packed bytes: [UInt8]) throws {
    var fields = PackedFields<Self>(bytes)
    try self.init(numbered: &fields)
    guard fields.isAtEnd else { throw BusValueError.unreadable(Self.self) }
  }
}

extension ItemChange: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    var attributes: [AttributeName: AttributeValue?] = try f("set") {
      Attributes($0.attributes.compactMapValues { $0 })
    }.values
    for name in try f("remove", { change in change.attributes.filter { $0.value == nil }.keys.sorted() }) {
      // While a change is written, the attributes to remove are none of those to set either.
      guard attributes.updateValue(nil, forKey: name) == nil else { throw BusValueError.unreadable(Self.self) }
    }
    self.init(
      attributes: attributes, access: try f("access", \.access), accessibility: try f("accessible", \.accessibility))
  }
}

// MARK: Packed

extension ItemClass: PackedValue {}
extension Item.State: PackedValue {}
extension Accessibility: PackedValue {}

extension ItemID: PackedValue {
  func pack(_ tag: UInt8, into parts: inout CanonicalEncoding) { parts.append(tag: tag, bytes) }
  init(_ tag: UInt8, from parts: inout CanonicalDecoder) throws { self.init(bytes: try parts.bytes(tag)) }
}

extension AccessControl: PackedValue {
  func pack(_ tag: UInt8, into parts: inout CanonicalEncoding) { flags.pack(tag, into: &parts) }
  init(_ tag: UInt8, from parts: inout CanonicalDecoder) throws { try self.init(try Flags(tag, from: &parts)) }
}

extension AccessControl.Flags: PackedValue {
  func pack(_ tag: UInt8, into parts: inout CanonicalEncoding) { parts.append(tag: tag, rawValue) }
  init(_ tag: UInt8, from parts: inout CanonicalDecoder) throws { self.init(rawValue: try parts.number(tag)) }
}

/// For each attribute its name, under the number 0, and its value, under the number of its kind.
extension Attributes: PackedValue {
  private static let name: UInt8 = 0
  private enum Kind {
    static let text: UInt8 = 1
    static let bytes: UInt8 = 2
    static let number: UInt8 = 3
    static let date: UInt8 = 4
  }

  func pack(_ tag: UInt8, into parts: inout CanonicalEncoding) {
    var list = CanonicalEncoding()
    for (name, value) in values {
      list.append(tag: Self.name, name.rawValue)
      switch value {
      case .text(let text): list.append(tag: Kind.text, text)
      case .bytes(let bytes): list.append(tag: Kind.bytes, bytes)
      case .number(let number): list.append(tag: Kind.number, UInt64(bitPattern: number))
      case .date(let date): list.append(tag: Kind.date, date.bitPattern)
      }
    }
    parts.append(tag: tag, list.bytes)
  }

  init(_ tag: UInt8, from parts: inout CanonicalDecoder) throws {
    var list = try parts.parts(tag)
    var values: [AttributeName: AttributeValue] = [:]
    while !list.isAtEnd {
      let name = AttributeName(rawValue: try list.string(Self.name))
      let value: AttributeValue =
        switch list.nextTag {
        case Kind.text: .text(try list.string(Kind.text))
        case Kind.bytes: .bytes(try list.bytes(Kind.bytes))
        case Kind.number: .number(Int64(bitPattern: try list.number(Kind.number)))
        case Kind.date: .date(Double(bitPattern: try list.number(Kind.date)))
        default: throw BusValueError.unreadable(Item.self)
        }
      // Refuse a name that occurs twice: it would be unclear which value is meant.
      guard values.updateValue(value, forKey: name) == nil else { throw BusValueError.unreadable(Item.self) }
    }
    self.init(values)
  }
}

// MARK: Searches

extension ItemSearch.Synchronizable: BusCodable {}
extension ItemSearch.Interaction: BusCodable {}

extension ItemSearch: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    let everyGroup = try f("every-group") { $0.groups == .all }
    let named: [String]? = try f("groups") { if case .named(let names)? = $0.groups { names } else { nil } }
    guard !everyGroup || named == nil else { throw BusValueError.unreadable(what: "\(Self.self).groups") }
    self.init(
      try f("class", \.itemClass), try f("attributes") { Attributes($0.attributes) }.values,
      groups: everyGroup ? .all : named.map { .named($0) }, ids: try f("ids", \.ids),
      synchronizable: try f("synchronizable", \.synchronizable), ignoresCase: try f("ignores-case", \.ignoresCase),
      limit: try f("limit", \.limit), pattern: try f("pattern", \.pattern),
      states: Set(try f("states") { search in search.states.sorted { $0.rawValue < $1.rawValue } }))
    created = try f("created", \.created)
    modified = try f("modified", \.modified)
    interaction = try f("interaction", \.interaction)
    after = try f("after", \.after)
  }
}

/// A record with one of four keys, for the four kinds of selection.
extension ItemSelection: StrictBusRecord {
  package init(_ f: inout Fields<Self>) throws {
    let ids: [ItemID]? = try f("ids") { if case .ids(let ids) = $0 { ids } else { nil } }
    let names: [RequestedName]? = try f("names") {
      if case .names(let names) = $0 { names.map(RequestedName.init) } else { nil }
    }
    let open: OpenNames? = try f("open") {
      if case .open(let names, let group) = $0 { OpenNames(group: group, names: names) } else { nil }
    }
    let search: ItemSearch? = try f("search") { if case .search(let search) = $0 { search } else { nil } }
    switch (ids, names, open, search) {
    case (let ids?, nil, nil, nil): self = .ids(ids)
    case (nil, let names?, nil, nil): self = .names(names.map(\.name))
    case (nil, nil, let open?, nil): self = .open(open.names, group: open.group)
    case (nil, nil, nil, let search?): self = .search(search)
    default: throw f.mismatch()
    }
  }
}

private struct OpenNames: BusStructure {
  let group: String
  let names: [ItemName]

  init(group: String, names: [ItemName]) { (self.group, self.names) = (group, names) }

  static var busSignature: String { "(aya(ayay))" }
  init(_ f: inout Fields<Self>) throws {
    group = try f("group", \.group)
    names = try f("names") { $0.names.map(RequestedName.init) }.map(\.name)
  }
}
