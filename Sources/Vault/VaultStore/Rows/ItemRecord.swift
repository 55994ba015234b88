import GRDB
package import Keys
package import Primitives

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

/// The keys from which the key of a wrapping is derived, depending on the item's access control. The passcode is not
/// among them: see ``Wrapping/addPasscodeLayer(for:place:)``.
package struct WrappingParts: ~Copyable {
  private var parts = SecretConcatenation()

  package init(classKey: borrowing SecretBytes) {
    parts.append(tag: 1, classKey)
  }

  package mutating func add(setKey: borrowing SecretBytes) { parts.append(tag: 2, setKey) }
  package mutating func add(applicationPassword stretched: borrowing SecretBytes) { parts.append(tag: 3, stretched) }

  /// The wrapping key, bound to the item that the AAD describes.
  package func key(_ aad: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.wrappingKey(from: parts, info: aad)
  }
}

/// An item's key, sealed for one alternative of its access control, with the public key of the passcode's layer.
package struct Wrapping {
  package var keys: Set<Requirement.Factor>
  /// Nil without the passcode's layer.
  var passcodeShare: [UInt8]?
  /// Empty if the wrapping can never be opened again, because its set or passcode is gone.
  package var box: [UInt8]

  package init(keys: Set<Requirement.Factor>, passcodeShare: [UInt8]? = nil, box: [UInt8]) {
    self.keys = keys
    self.passcodeShare = passcodeShare
    self.box = box
  }

  var isClosed: Bool { box.isEmpty }

  package static func encode(_ wrappings: [Wrapping]) -> [UInt8] {
    var list = CanonicalEncoding()
    for wrapping in wrappings {
      list.append(tag: 1, optional: wrapping.passcodeShare)
      list.append(tag: 2, wrapping.box)
    }
    return list.bytes
  }

  /// Decodes the wrappings of an access control, in its order; nil where their number is wrong.
  package static func decode(_ bytes: [UInt8], _ requirement: Requirement) -> [Wrapping]? {
    var list = CanonicalDecoder(bytes)
    do {
      let wrappings = try requirement.wrappings.map { keys in
        Wrapping(keys: keys, passcodeShare: try list.optionalBytes(1), box: try list.bytes(2))
      }
      return list.isAtEnd ? wrappings : nil
    } catch {
      return nil
    }
  }

  package static func closed(_ keys: Set<Requirement.Factor>) -> Wrapping { Wrapping(keys: keys, box: []) }

  /// The wrappings that can never be opened again.
  package static func closed(_ bytes: [UInt8]?, _ requirement: Requirement) -> Set<Set<Requirement.Factor>> {
    let wrappings = bytes.flatMap { decode($0, requirement) } ?? []
    return Set(wrappings.filter(\.isClosed).map(\.keys))
  }

  /// The AAD of a wrapping, which binds it to its item and its alternative.
  package static func aad(_ item: [UInt8], _ keys: Set<Requirement.Factor>) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, item)
    aad.append(tag: 2, UInt64((keys.contains(.boundFinger) ? 1 : 0) | (keys.contains(.passcode) ? 2 : 0)))
    return aad.bytes
  }
}
