/// A value of JSON.
enum JSONValue: Codable, Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else if let object = try? value.decode([String: JSONValue].self) {
      self = .object(object)
    } else if let list = try? value.decode([JSONValue].self) {
      self = .list(list)
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else {
      self = .number(try value.decode(Double.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .integer(let integer): try value.encode(integer)
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    case .list(let list): try value.encode(list)
    case .object(let object): try value.encode(object)
    }
  }

  /// The field of an object; nil for every other value.
  subscript(_ name: String) -> JSONValue? { if case .object(let object) = self { object[name] } else { nil } }

  var asText: String? { if case .text(let text) = self { text } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral text: String) { self = .text(text) }
  init(booleanLiteral bool: Bool) { self = .bool(bool) }
  init(integerLiteral number: Int64) { self = .integer(number) }
  init(arrayLiteral list: JSONValue...) { self = .list(list) }
  init(dictionaryLiteral fields: (String, JSONValue)...) {
    self = .object(Dictionary(fields) { _, last in last })
  }
}
