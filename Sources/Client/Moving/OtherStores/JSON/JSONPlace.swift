// A JSON text with secrets in it as a tree.

internal import FoundationEssentials
internal import Primitives

/// A value in a JSON text whose strings have all stayed in locked memory. What is missing or of another kind is empty, like a
/// field of a form that nobody has filled in.
struct JSONPlace: Sendable {
  private enum Value: Decodable, Sendable {
    case text(OpenText.Mark)
    case number(Double)
    case truth(Bool)
    case list([Value])
    case object([String: Value])
    case null

    init(from decoder: any Decoder) throws {
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        self = .null
      } else if let mark = try? single.decode(OpenText.Mark.self) {
        self = .text(mark)
      } else if let object = try? single.decode([String: Value].self) {
        self = .object(object)
      } else if let list = try? single.decode([Value].self) {
        self = .list(list)
      } else if let truth = try? single.decode(Bool.self) {
        self = .truth(truth)
      } else {
        self = .number(try single.decode(Double.self))
      }
    }
  }

  /// The most values of a text, as of a CSV file.
  private static let mostValues = 2_000_000
  /// The most values around a value.
  private static let deepest = 32

  private let value: Value
  private let text: OpenText

  private init(_ value: Value, in text: OpenText) { (self.value, self.text) = (value, text) }

  /// - Throws: `malformed` for what is no JSON, or too much of it.
  init(_ whole: SharedSecret) throws(ImportError) {
    text = OpenText(whole, open: [])
    try Self.check(text.bytes)
    do {
      value = try JSONDecoder().decode(Value.self, from: Data(text.bytes))
    } catch {
      throw .malformed("it is no JSON, or a part of it is missing")
    }
  }

  /// Refuses what would take too much memory or stack of the decoder.
  ///
  /// - Parameter text: without the contents of strings. Names of members are in it, and may make a value seem deeper.
  private static func check(_ text: [UInt8]) throws(ImportError) {
    var (depth, count) = (0, 0)
    for byte in text {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, count) = (depth + 1, count + 1)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ","): count += 1
      default: continue
      }
      guard depth <= deepest else { throw .malformed("its values are nested too deep") }
      guard count <= mostValues else { throw .malformed("it has more than \(mostValues) values") }
    }
  }

  subscript(name: String) -> JSONPlace {
    guard case .object(let members) = value, let value = members[name] else { return JSONPlace(.null, in: text) }
    return JSONPlace(value, in: text)
  }

  /// The elements of a list.
  var elements: [JSONPlace] {
    guard case .list(let values) = value else { return [] }
    return values.map { JSONPlace($0, in: text) }
  }

  /// The members of an object by their names.
  var members: [(name: String, place: JSONPlace)] {
    guard case .object(let members) = value else { return [] }
    return members.sorted { $0.key < $1.key }.map { ($0.key, JSONPlace($0.value, in: text)) }
  }

  var isList: Bool { if case .list = value { true } else { false } }

  var isObject: Bool { if case .object = value { true } else { false } }

  var isTrue: Bool { if case .truth(true) = value { true } else { false } }

  var number: Int? { if case .number(let number) = value { Int(exactly: number) } else { nil } }

  /// The string, or the words for a number.
  var secret: SharedSecret {
    switch value {
    case .text(let mark): text.secret(mark) ?? SharedSecret(SecretBytes(count: 0))
    case .number: SharedSecret(SecretBytes(copying: Array((number.map(String.init) ?? "").utf8).span))
    default: SharedSecret(SecretBytes(count: 0))
    }
  }

  /// The string of what is no secret; empty if it is not UTF-8.
  var plain: String { if case .text = value { secret.bytes.plainText ?? "" } else { "" } }
}
