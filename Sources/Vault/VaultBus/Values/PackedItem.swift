internal import SDBus
internal import SecretModel

/// An item as one array of bytes, in the layout documented in `data/dbus/org.whorl.Vault1.xml`.
extension Item: BusCodable {
  static var busSignature: String { "ay" }

  private enum Field {
    static let id: UInt8 = 1
    static let state: UInt8 = 2
    static let itemClass: UInt8 = 3
    static let attributes: UInt8 = 4
    static let access: UInt8 = 5
    static let accessible: UInt8 = 6
    static let created: UInt8 = 7
    static let modified: UInt8 = 8
  }

  var busValue: BusValue {
    var fields = PackedFields()
    fields.append(Field.id, id.bytes)
    fields.append(Field.state, state.rawValue.utf8)
    if let itemClass { fields.append(Field.itemClass, itemClass.rawValue.utf8) }
    fields.append(Field.attributes, PackedAttributes.bytes(of: attributes))
    fields.append(Field.access, access.flags.rawValue)
    fields.append(Field.accessible, accessibility.rawValue.utf8)
    fields.append(Field.created, created)
    fields.append(Field.modified, modified)
    return .bytes(fields.bytes)
  }

  /// Ignores unknown fields: a newer vault may add some.
  init(bus value: BusValue) throws(VaultError) {
    guard let bytes = value.asBytes else { throw .unreadable(Self.self) }
    var fields = PackedReader(bytes)
    var id: ItemID?
    var state: State?
    var itemClass: ItemClass?
    var attributes: [AttributeName: AttributeValue]?
    var access: AccessControl?
    var accessible: Accessibility?
    var created: Double?
    var modified: Double?
    while !fields.isAtEnd {
      let number = try fields.byte()
      let field = try fields.counted()
      switch number {
      case Field.id: id = ItemID(bytes: field.data)
      case Field.state: state = try field.word()
      case Field.itemClass: itemClass = try field.word()
      case Field.attributes: attributes = try PackedAttributes.read(field)
      // Unchecked, since an item of a newer program may have a flag that this one does not know.
      case Field.access: access = AccessControl(unchecked: AccessControl.Flags(rawValue: try field.integer()))
      case Field.accessible: accessible = try field.word()
      case Field.created: created = try field.double()
      case Field.modified: modified = try field.double()
      default: break
      }
    }
    guard let id, let state, let attributes, let access, let accessible, let created, let modified else {
      throw .unreadable(Self.self)
    }
    self.init(
      id: id, state: state, itemClass: itemClass, attributes: attributes, access: access, accessibility: accessible,
      created: created, modified: modified)
  }

}

/// The attributes of an item one after another.
enum PackedAttributes {
  static func bytes(of attributes: [AttributeName: AttributeValue]) -> [UInt8] {
    var list = PackedFields()
    for (name, value) in attributes {
      list.append(counted: name.rawValue.utf8)
      value.pack(into: &list)
    }
    return list.bytes
  }

  static func read(_ list: PackedReader) throws(VaultError) -> [AttributeName: AttributeValue] {
    var list = list
    var attributes: [AttributeName: AttributeValue] = [:]
    while !list.isAtEnd {
      let name = AttributeName(rawValue: try list.counted().text())
      // Refuse a name that occurs twice: it would be unclear which value is meant.
      guard attributes.updateValue(try AttributeValue(packed: &list), forKey: name) == nil else {
        throw .unreadable(Item.self)
      }
    }
    return attributes
  }
}

/// The kind of the value and the value.
extension AttributeValue {
  private enum Kind {
    static let text: UInt8 = 1
    static let bytes: UInt8 = 2
    static let number: UInt8 = 3
    static let date: UInt8 = 4
  }

  fileprivate func pack(into list: inout PackedFields) {
    switch self {
    case .text(let text): list.append(Kind.text, text.utf8)
    case .bytes(let bytes): list.append(Kind.bytes, bytes)
    case .number(let number): list.append(Kind.number, UInt64(bitPattern: number))
    case .date(let date): list.append(Kind.date, date)
    }
  }

  fileprivate init(packed list: inout PackedReader) throws(VaultError) {
    let kind = try list.byte()
    let value = try list.counted()
    switch kind {
    case Kind.text: self = .text(try value.text())
    case Kind.bytes: self = .bytes(value.data)
    case Kind.number: self = .number(Int64(bitPattern: try value.integer()))
    case Kind.date: self = .date(try value.double())
    default: throw .unreadable(Self.self)
    }
  }
}
