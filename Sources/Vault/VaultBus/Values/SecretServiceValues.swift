internal import Primitives
package import SDBus
package import SecretModel

// The values of the two calls with which `whorl-agent` answers most requests of the Secret Service. They are arrays of bytes
// in the format of ``CanonicalEncoding``: records and memory files took more time than the vault itself (decision 0218).

/// The names of items in one access group.
struct NamesInGroup: BusCodable {
  let names: [ItemName]
  let group: String

  init(_ names: [ItemName], in group: String) { (self.names, self.group) = (names, group) }

  static var busSignature: String { "ay" }

  var busValue: BusValue {
    var parts = CanonicalEncoding()
    parts.append(tag: 1, group)
    for name in names {
      parts.append(tag: 2, name.service)
      parts.append(tag: 3, name.account)
    }
    return .bytes(parts.bytes)
  }

  init(bus value: BusValue) throws {
    var parts = CanonicalDecoder(try [UInt8](bus: value))
    group = try parts.string(1)
    var names: [ItemName] = []
    while !parts.isAtEnd {
      names.append(try ItemName(service: try parts.string(2), account: try parts.string(3)))
    }
    self.names = names
  }
}

/// Released items that require nothing, with their secrets in the message, which both ends wipe. What requires a touch or the
/// passcode is sent as ``ReleasedItems``; so are large secrets.
struct OpenSecrets: BusParts, CarriesSecrets {
  /// The most bytes of the secrets of one message, and the most items: a request may name the same item again and again.
  static let limit = 64 << 10
  static let itemLimit = 256

  private let released: ReleasedItems
  var items: [ReleasedItem] { released.items }
  var secretCount: Int { released.secretCount }

  init(_ items: [ReleasedItem]) { released = ReleasedItems(items) }

  static var busSignature: String { "a(ayay)" + ReleasedItems.busSignature }
  static var places: Int { 1 + ReleasedItems.places }

  func busValues() throws -> [BusValue] {
    let isSmall = items.count <= Self.itemLimit && items.reduce(0) { $0 + $1.secret.count } <= Self.limit
    let inside: [BusValue] =
      isSmall
      ? items.map { .structure([$0.item.busValue, .secret(BusSecret(SharedSecret($0.secret.copy())))]) } : []
    return [.array(of: "(ayay)", inside)] + (try ReleasedItems(isSmall ? [] : items).busValues())
  }

  init(bus values: [BusValue]) throws {
    guard let inside = values[0].asArray else { throw BusValueError.unreadable(Self.self) }
    let items = try inside.map { entry in
      guard let parts = entry.asStructure, parts.count == 2, let item = parts[0].asSecret,
        let secret = parts[1].asSecret as? SharedSecret
      else { throw BusValueError.unreadable(Self.self) }
      return ReleasedItem(try Item(bus: .bytes(item.lend { Array($0) })), secret: secret.copy())
    }
    released = ReleasedItems(items + (try ReleasedItems(bus: [values[1].withoutSecrets, values[2]]).items))
  }
}

extension BusValue {
  /// The same value with its arrays of bytes as such. For the parts of a message with secrets that are none.
  fileprivate var withoutSecrets: BusValue {
    switch self {
    case .secret(let secret): .bytes(secret.bytes.lend { Array($0) })
    case .array(let element, let values): .array(of: element, values.map(\.withoutSecrets))
    case .structure(let members): .structure(members.map(\.withoutSecrets))
    default: self
    }
  }
}

/// A search of the Secret Service.
struct SecretServiceSearch: BusCodable {
  let attributes: [String: String]
  let collection: String?
  let after: ItemCursor?

  init(_ attributes: [String: String], in collection: String?, after: ItemCursor?) {
    (self.attributes, self.collection, self.after) = (attributes, collection, after)
  }

  static var busSignature: String { "ay" }

  var busValue: BusValue {
    var parts = CanonicalEncoding()
    parts.append(tag: 1, optional: collection)
    parts.append(tag: 2, optional: after?.bytes)
    for (name, value) in attributes {
      parts.append(tag: 3, name)
      parts.append(tag: 4, value)
    }
    return .bytes(parts.bytes)
  }

  init(bus value: BusValue) throws {
    var parts = CanonicalDecoder(try [UInt8](bus: value))
    collection = try parts.optionalString(1)
    after = try parts.optionalBytes(2).map { ItemCursor(bytes: $0) }
    var attributes: [String: String] = [:]
    while !parts.isAtEnd {
      let name = try parts.string(3)
      // Refuse a name that occurs twice: it would be unclear which value is meant.
      guard attributes.updateValue(try parts.string(4), forKey: name) == nil else {
        throw BusValueError.unreadable(Self.self)
      }
    }
    self.attributes = attributes
  }
}

extension FoundSecrets: BusParts {
  package static var busSignature: String { "ayayb" }
  package static var places: Int { 3 }

  package func busValues() -> [BusValue] {
    var parts = CanonicalEncoding()
    for secret in secrets {
      parts.append(tag: 1, secret.id.bytes)
      parts.append(tag: 2, secret.collection)
      parts.append(tag: 3, secret.name)
      parts.append(tag: 4, secret.access.flags.rawValue)
      parts.append(tag: 5, secret.grant == .session ? 1 : 0)
    }
    return [.bytes(parts.bytes), .bytes(next?.bytes ?? []), .boolean(isLocked)]
  }

  package init(bus values: [BusValue]) throws {
    var parts = CanonicalDecoder(try [UInt8](bus: values[0]))
    var secrets: [FoundSecret] = []
    while !parts.isAtEnd {
      secrets.append(
        FoundSecret(
          id: ItemID(bytes: try parts.bytes(1)), collection: try parts.string(2), name: try parts.string(3),
          // Unchecked, since an item of a newer program may have a flag that this one does not know.
          access: AccessControl(unchecked: .init(rawValue: try parts.number(4))),
          grant: try parts.number(5) == 1 ? .session : .brief))
    }
    self.init(secrets, next: ItemCursor(unlessEmpty: try [UInt8](bus: values[1])), isLocked: try Bool(bus: values[2]))
  }
}
