import CommandBase
import Glibc
internal import Moving
import Primitives
import SecretModel
import Settings
import Whorl

/// A text with references to secrets, which stand as `{{ whorl://NAME }}`, or as `{{ json whorl://NAME }}` where a
/// string of JSON is wanted. The text around them is no secret. A reference that cannot be understood is refused: a program would
/// otherwise get the reference as its password.
struct SecretTemplate {
  /// What a reference begins with.
  static let scheme = "whorl://"
  /// The largest text that is read, in bytes.
  static let limit = 1 << 20
  /// Where a filled text is too long, in bytes. It is in locked memory.
  private static let filledLimit = 16 << 20

  private enum Part {
    case text([UInt8])
    case secret(name: WrittenName, isJSON: Bool)
  }

  private var parts: [Part] = []

  /// The names of the items, each once.
  var names: [WrittenName] {
    var names: [WrittenName] = []
    for case .secret(let name, _) in parts where !names.contains(name) { names.append(name) }
    return names
  }

  /// A secret and nothing else.
  init(secret name: String) { parts = [.secret(name: WrittenName(text: name), isJSON: false)] }

  /// - Parameters:
  ///   - file: the name of the file in messages.
  ///   - firstLine: the number of the text's first line in it.
  init(parsing text: ArraySlice<UInt8>, of file: String, firstLine: Int = 1) throws(Failure) {
    var rest = text
    var line = firstLine
    while let scheme = rest.firstRange(of: Self.scheme.utf8) {
      let before = rest[..<scheme.lowerBound]
      line += before.count { $0 == Self.lineFeed }
      guard let opening = Opening(atEndOf: before) else {
        throw .badLine(line, of: file, "a reference without braces", advice: "write {{ \(Self.scheme)NAME }}")
      }
      let named = rest[scheme.upperBound...]
      guard let end = named.firstRange(of: Opening.closing), !named[..<end.lowerBound].contains(Self.lineFeed) else {
        throw .badLine(line, of: file, "a reference without }} after it", advice: "write {{ \(Self.scheme)NAME }}")
      }
      let name = Opening.withoutBlanks(atEndOf: named[..<end.lowerBound])
      parts.append(.text(Array(rest[..<opening.start])))
      parts.append(.secret(name: WrittenName(text: try Self.name(name, line, of: file)), isJSON: opening.isJSON))
      rest = rest[end.upperBound...]
    }
    parts.append(.text(Array(rest)))
  }

  /// The name in a reference.
  static func name(_ bytes: ArraySlice<UInt8>, _ line: Int, of file: String) throws(Failure) -> String {
    guard !bytes.isEmpty else {
      throw .badLine(line, of: file, "a reference without a name", advice: "name the item as 'whorl get' takes it")
    }
    guard bytes.firstRange(of: "{{".utf8) == nil, bytes.firstRange(of: Self.scheme.utf8) == nil else {
      throw .badLine(line, of: file, "a reference within a reference", advice: "write {{ \(Self.scheme)NAME }}")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The text with the secrets in their places.
  ///
  /// - Parameter released: those of all ``names``.
  func filled(with released: [WrittenName: ReleasedItem]) throws(Failure) -> SecretBytes {
    var filled = SecretBytes(count: 0)
    for part in parts {
      guard filled.count <= Self.filledLimit else {
        throw Failure(
          .damaged, "the text with its secrets is longer than \(Self.filledLimit >> 20) MiB", name: "errSecDecode",
          advice: "name fewer or shorter secrets in it")
      }
      switch part {
      case .text(let text): text.withUnsafeBytes { filled.append($0) }
      case .secret(let name, let isJSON):
        filled.append(try Self.secret(name, isJSON, released).bytes)
      }
    }
    return filled
  }

  /// The secrets as they stand in the filled text, and as a program writes them that reads the strings of JSON in it.
  func secrets(of released: [WrittenName: ReleasedItem]) throws(Failure) -> [SharedSecret] {
    var secrets: [SharedSecret] = []
    for case .secret(let name, let isJSON) in parts {
      secrets.append(try Self.secret(name, false, released))
      guard isJSON else { continue }
      let quoted = try Self.secret(name, true, released)
      secrets.append(quoted)
      // Without the quotation marks, since a program may write more in the same string.
      secrets.append(
        SharedSecret(
          quoted.bytes.withUnsafeBytes {
            SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.dropFirst().dropLast()))
          }
        ))
    }
    return secrets
  }

  private static func secret(
    _ name: WrittenName, _ isJSON: Bool, _ released: [WrittenName: ReleasedItem]
  ) throws(Failure) -> SharedSecret {
    guard let item = released[name] else { throw .noItem(name.text) }
    guard isJSON else { return SharedSecret(item.secret.copy()) }
    guard item.secret.withUnsafeBytes({ Unicode.isValidUTF8($0) }) else {
      throw Failure(
        .damaged, "the secret of \(item.name) is not text and cannot be in JSON", name: "errSecDecode",
        advice: "read it with 'whorl get' instead")
    }
    var text = SecretBytes(count: 0)
    text.append(json: item.secret)
    return SharedSecret(text)
  }

  private static let lineFeed = UInt8(ascii: "\n")

  /// The beginning of a reference, up to its scheme.
  private struct Opening {
    static let closing = Array("}}".utf8)

    let start: Int
    let isJSON: Bool

    /// Nil if the bytes do not end with one.
    init?(atEndOf bytes: ArraySlice<UInt8>) {
      var rest = Self.withoutBlanks(atEndOf: bytes)
      isJSON = rest.count < bytes.count && rest.suffix(4).elementsEqual("json".utf8)
      if isJSON { rest = Self.withoutBlanks(atEndOf: rest.dropLast(4)) }
      guard rest.suffix(2).elementsEqual("{{".utf8) else { return nil }
      start = rest.endIndex - 2
    }

    static func withoutBlanks(atEndOf bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      var rest = bytes
      while let last = rest.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { rest.removeLast() }
      return rest
    }
  }
}

/// The name of an item as somebody has written it, compared byte by byte like the names in the store: an accented letter
/// can be written in two ways, which `String` takes for equal.
struct WrittenName: Hashable {
  let text: String

  static func == (one: WrittenName, other: WrittenName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

  func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

extension SecretTemplate {
  /// The text of a file, or of standard input where there is no path.
  static func text(of path: String?) throws(Failure) -> ArraySlice<UInt8> {
    let text = try bytes(of: path)
    guard Unicode.isValidUTF8(text), !text.contains(0) else {
      throw Failure(
        .damaged, "\(path ?? "standard input"): not text in UTF-8", name: "errSecDecode", advice: "write it in UTF-8")
    }
    return ArraySlice(text)
  }

  private static func bytes(of path: String?) throws(Failure) -> [UInt8] {
    guard let path else {
      do throws(ReadError) {
        return try SecretBytes.read(from: STDIN_FILENO, limit: limit).withUnsafeBytes { Array($0) }
      } catch .system(let code) {
        throw .cannotRead("the template from standard input", code)
      } catch {
        throw .usage("standard input: \(error)", advice: "give a shorter template")
      }
    }
    do throws(SmallFile.Failure) {
      return try SmallFile.read(path, limit: limit)
    } catch {
      throw Failure(.notFound, "\(path): \(error.problem)", advice: "name another file")
    }
  }
}

extension Failure {
  /// A line of a file that cannot be understood.
  static func badLine(_ line: Int, of file: String, _ what: String, advice: String) -> Failure {
    Failure(.damaged, "\(file): line \(line): \(what)", name: "errSecDecode", advice: advice)
  }
}
