internal import FoundationEssentials
internal import SecretModel

/// The contents of an export, before encryption: lines of JSON, each item's followed by the bytes of its secret and a
/// newline. `docs/export-format.md` describes it.
enum ItemFileFormat {
  /// The first line.
  struct Beginning: Codable, Equatable {
    var format = "whorl-items"
    var version = 1
  }

  /// Every further line: an item, or the end.
  struct Line: Codable {
    var item: Head?
    /// In the last line, the number of items before it. A file without this line is incomplete.
    var end: Int?
  }

  /// An item without its secret.
  struct Head: Codable {
    var itemClass: String
    var attributes: [String: Value]
    var access: [String]
    var accessible: String
    /// The length of the secret that follows the line, in bytes.
    var secret: Int

    private enum CodingKeys: String, CodingKey {
      case itemClass = "class"
      case attributes, access, accessible, secret
    }
  }

  /// The value of an attribute, as an object with one member, which is named after the kind of value.
  struct Value: Codable {
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
      case .bytes: attribute = .bytes(Array(try members.decode(Data.self, forKey: kind)))
      case .number: attribute = .number(try members.decode(Int64.self, forKey: kind))
      case .date: attribute = .date(try members.decode(Double.self, forKey: kind))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      switch attribute {
      case .text(let text): try members.encode(text, forKey: .text)
      case .bytes(let bytes): try members.encode(Data(bytes), forKey: .bytes)
      case .number(let number): try members.encode(number, forKey: .number)
      case .date(let date): try members.encode(date, forKey: .date)
      }
    }
  }

  /// The longest line, in bytes: enough for the attributes of any item.
  static let lineLimit = 32 << 20

  static func line(_ value: some Encodable) throws(VaultError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    } catch {
      throw .internalError("a line of an export: \(error)")
    }
  }

  private static let decoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }()

  static func read<Value: Decodable>(_: Value.Type = Value.self, _ line: [UInt8]) throws(VaultError) -> Value {
    do {
      return try decoder.decode(Value.self, from: Data(line))
    } catch {
      throw .otherContents
    }
  }
}

extension VaultError {
  /// An encrypted file that is not an export.
  static let otherContents = fileUnreadable("it does not hold items of whorl, or those of a later version")
}

// MARK: Items

extension ItemFileFormat.Head {
  init(_ item: Item, _ itemClass: ItemClass, secret: Int) {
    self.itemClass = itemClass.rawValue
    attributes = item.attributes.reduce(into: [:]) { $0[$1.key.rawValue] = ItemFileFormat.Value($1.value) }
    access = item.access.words
    accessible = item.accessibility.rawValue
    self.secret = secret
  }

  var newItem: NewItem {
    get throws(VaultError) {
      guard let itemClass = ItemClass(rawValue: itemClass), let accessibility = Accessibility(rawValue: accessible)
      else { throw .otherContents }
      var attributes: [AttributeName: AttributeValue] = [:]
      for (name, value) in self.attributes { attributes[AttributeName(rawValue: name)] = value.attribute }
      return NewItem(itemClass, attributes, access: try AccessControl(words: access), accessibility: accessibility)
    }
  }
}

extension AccessControl {
  private static let words: [(flag: Flags, word: String)] = [
    (.userPresence, "user-presence"), (.biometryAny, "biometry-any"), (.biometryCurrentSet, "biometry-current-set"),
    (.devicePasscode, "device-passcode"), (.companion, "companion"), (.or, "or"), (.and, "and"),
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
