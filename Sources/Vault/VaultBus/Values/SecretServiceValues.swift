internal import Primitives
package import SDBus
package import SecretModel

// The values of the call with which `whorl-agent` searches. They are arrays of bytes in the format of ``CanonicalEncoding``,
// as items are: records took more time than the vault itself (decision 0218).

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
