internal import Primitives

/// The sealed description of an item: its class and attributes.
package struct ItemRecord: Equatable {
  /// The most an item's attributes may take together, in bytes.
  static let limit = 64 << 10

  package let itemClass: ItemClass
  package var attributes: [AttributeName: AttributeValue] { didSet { primary = Self.primary(itemClass, attributes) } }
  /// The encoded primary attributes, unique among the items of a class. Absent and empty are the same.
  package private(set) var primary: [UInt8]
  /// Seconds since 1970.
  package var created: Double
  /// Seconds since 1970.
  package var modified: Double

  package init(
    itemClass: ItemClass, attributes: [AttributeName: AttributeValue], created: Double, modified: Double
  ) {
    var attributes = attributes
    if attributes[.accessGroup] == nil { attributes[.accessGroup] = .text(AccessGroup.commandLine) }
    self.itemClass = itemClass
    self.attributes = attributes
    primary = Self.primary(itemClass, attributes)
    self.created = created
    self.modified = modified
  }

  /// The record of the command line's item with this name, to find it.
  package init(named name: ItemName) {
    let item = NewItem(named: name, access: .none)
    self.init(itemClass: item.itemClass, attributes: item.attributes, created: 0, modified: 0)
  }

  /// The item's name for people.
  package var name: ItemName { ItemName(titling: itemClass, attributes) }

  /// Refuses attributes that take too much room.
  package func check() throws(VaultError) {
    guard bytes.count <= Self.limit else {
      throw .invalidRequest("an item's attributes take at most \(Self.limit >> 10) KiB")
    }
  }

  private static func primary(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, itemClass.rawValue)
    for name in itemClass.primaryAttributes {
      part.append(tag: 2, name.rawValue)
      part.append(tag: 3, attributes[name].flatMap { $0.isEmpty ? nil : $0.encoded } ?? [])
    }
    return part.bytes
  }

  var bytes: [UInt8] {
    var record = CanonicalEncoding()
    record.append(tag: 1, itemClass.rawValue)
    record.append(tag: 2, created.bitPattern)
    record.append(tag: 3, modified.bitPattern)
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      record.append(tag: 4, name.rawValue)
      record.append(tag: 5, value.encoded)
    }
    return record.bytes
  }

  init?(bytes: [UInt8]) {
    var record = CanonicalDecoder(bytes)
    do {
      guard let itemClass = ItemClass(rawValue: try record.string(1)) else { return nil }
      self.itemClass = itemClass
      created = Double(bitPattern: try record.number(2))
      modified = Double(bitPattern: try record.number(3))
      var attributes: [AttributeName: AttributeValue] = [:]
      while !record.isAtEnd {
        let name = AttributeName(rawValue: try record.string(4))
        guard let value = AttributeValue(encoded: try record.bytes(5)) else { return nil }
        attributes[name] = value
      }
      self.attributes = attributes
      primary = Self.primary(itemClass, attributes)
    } catch {
      return nil
    }
  }
}

extension ItemClass {
  /// The indexed attributes and combinations, by which items of the class are found without opening all of them.
  var searchedAttributes: [[AttributeName]] {
    switch self {
    case .genericPassword: [[.service, .account], [.account], [.service], [.label]]
    case .internetPassword: [[.server, .account], [.account], [.server], [.label]]
    case .key: [[.applicationTag], [.applicationLabel], [.label]]
    case .certificate: [[.issuer, .serialNumber], [.publicKeyHash], [.subject], [.label]]
    case .passkey: [[.credentialID], [.relyingParty, .userHandle], [.relyingParty]]
    }
  }
}

extension AttributeValue {
  var encoded: [UInt8] {
    var part = CanonicalEncoding()
    switch self {
    case .text(let text): part.append(tag: 1, text)
    case .bytes(let bytes): part.append(tag: 2, bytes)
    case .number(let number): part.append(tag: 3, UInt64(bitPattern: number))
    case .date(let seconds): part.append(tag: 4, seconds.bitPattern)
    }
    return part.bytes
  }

  init?(encoded: [UInt8]) {
    var part = CanonicalDecoder(encoded)
    do {
      switch encoded.first {
      case 1: self = .text(try part.string(1))
      case 2: self = .bytes(try part.bytes(2))
      case 3: self = .number(Int64(bitPattern: try part.number(3)))
      case 4: self = .date(Double(bitPattern: try part.number(4)))
      default: return nil
      }
    } catch {
      return nil
    }
  }

  /// Equality for searches.
  package func matches(_ other: AttributeValue, ignoringCase: Bool) -> Bool {
    if ignoringCase, case .text(let one) = self, case .text(let two) = other {
      return one.lowercased() == two.lowercased()
    }
    return self == other
  }
}
