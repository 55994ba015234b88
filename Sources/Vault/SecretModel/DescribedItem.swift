/// An item without its secret, as exports and the records of `whorl sync` have it: JSON that `docs/export-format.md`
/// describes. A new field changes both formats.
package struct DescribedItem: Codable, Sendable {
  private var itemClass: String
  private var attributes: [String: Value]
  private var access: [String]
  private var accessible: String
  /// The length of the secret, in bytes.
  package var secret: Int

  private enum CodingKeys: String, CodingKey {
    case itemClass = "class"
    case attributes, access, accessible, secret
  }

  package init(_ item: NewItem, secret: Int) {
    itemClass = item.itemClass.rawValue
    attributes = item.attributes.reduce(into: [:]) { $0[$1.key.rawValue] = Value($1.value) }
    access = item.access.words
    accessible = item.accessibility.rawValue
    self.secret = secret
  }

  /// - Throws: `fileUnreadable` for unknown values; `invalidAccessControl`.
  package var item: NewItem {
    get throws(VaultError) {
      guard let itemClass = ItemClass(rawValue: itemClass), let accessibility = Accessibility(rawValue: accessible)
      else { throw .otherContents }
      var attributes: [AttributeName: AttributeValue] = [:]
      for (name, value) in self.attributes { attributes[AttributeName(rawValue: name)] = value.attribute }
      return NewItem(itemClass, attributes, access: try AccessControl(words: access), accessibility: accessibility)
    }
  }

  /// The value of an attribute, as an object with one member, which is named after the kind of value.
  private struct Value: Codable {
    var attribute: AttributeValue

    private enum CodingKeys: String, CodingKey, CaseIterable {
      case text, bytes, number, date
    }

    init(_ attribute: AttributeValue) { self.attribute = attribute }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      let kinds = CodingKeys.allCases.filter { members.contains($0) }
      guard let kind = kinds.first, kinds.count == 1 else { throw VaultError.otherContents }
      switch kind {
      case .text: attribute = .text(try members.decode(String.self, forKey: kind))
      case .bytes: attribute = .bytes(try members.decode(JSONBytes.self, forKey: kind).bytes)
      case .number: attribute = .number(try members.decode(Int64.self, forKey: kind))
      case .date: attribute = .date(try members.decode(Double.self, forKey: kind))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      switch attribute {
      case .text(let text): try members.encode(text, forKey: .text)
      case .bytes(let bytes): try members.encode(JSONBytes(bytes), forKey: .bytes)
      case .number(let number): try members.encode(number, forKey: .number)
      case .date(let date): try members.encode(date, forKey: .date)
      }
    }
  }
}

extension AccessControl {
  private static let words: [(flag: Flags, word: String)] = [
    (.userPresence, "user-presence"), (.biometryAny, "biometry-any"), (.biometryCurrentSet, "biometry-current-set"),
    (.devicePasscode, "device-passcode"), (.companion, "companion"), (.or, "or"), (.and, "and"),
    (.privateKeyUsage, "private-key-usage"),
  ]

  fileprivate var words: [String] { Self.words.filter { flags.contains($0.flag) }.map(\.word) }

  /// - Throws: `fileUnreadable` for an unknown word; `invalidAccessControl`.
  fileprivate init(words: [String]) throws(VaultError) {
    var flags: Flags = []
    for word in words {
      guard let known = Self.words.first(where: { $0.word == word }) else { throw .otherContents }
      flags.insert(known.flag)
    }
    try self.init(flags)
  }
}
