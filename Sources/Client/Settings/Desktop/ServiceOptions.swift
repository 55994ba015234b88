// The options of a service, and how its words are written in units of systemd and in service files of the message bus.

internal import Glibc
internal import Whorl

/// The options of a command that are also set for its service: the store and the reader.
package struct ServiceOptions {
  /// Each option and its value, such as `--store` and `/srv/store`.
  package let words: [String]

  package init(words: [String]) { self.words = words }

  /// - Throws: for a value that some service files cannot contain.
  package init(_ named: NamedStore) throws(Failure) {
    let given = [
      ("--config", named.configuration.map(FullPath.of)), ("--store", named.directory.map(FullPath.of)),
      ("--reader", named.reader?.description),
    ]
    for case (let name, let value?) in given where !UnitWord.isLine(value) || value.contains("\\") {
      throw .usage(
        "a service cannot have the value of \(name): it has a control character or a backslash",
        advice: "use another path")
    }
    words = given.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }

  package var isEmpty: Bool { words.isEmpty }

  /// For the command of a unit: a space and the words, or nothing.
  var inUnit: String { words.map { " " + ($0.hasPrefix("--") ? $0 : UnitWord.quoted($0)) }.joined() }

  /// The same for the command of a service file of the bus.
  package var onBus: String { words.map { " " + BusWord.quoted($0) }.joined() }
}

/// Words of a command in a unit, in systemd's syntax.
package enum UnitWord {
  /// A quoted word, with the runtime directory as a specifier.
  package static func quoted(_ word: String) -> String {
    let isBelow = word.hasPrefix("\(BaseDirectories.runtime)/")
    let rest = isBelow ? String(word.dropFirst(BaseDirectories.runtime.count)) : word
    let escaped = rest.map { character in
      switch character {
      case "\\", "\"": "\\\(character)"
      case "%": "%%"
      case "$": "$$"
      default: "\(character)"
      }
    }.joined()
    return "\"\(isBelow ? "%t" : "")\(escaped)\""
  }

  /// The words of a command, plain or written by ``quoted(_:)``.
  package static func words(of command: some StringProtocol) -> [String] {
    var words: [String] = []
    var word: String?
    var isQuoted = false
    var rest = Substring(command)
    while let character = rest.popFirst() {
      switch (character, rest.first) {
      case (" ", _) where !isQuoted:
        if let whole = word { words.append(whole) }
        word = nil
      case ("\"", _):
        isQuoted.toggle()
        word = word ?? ""
      case ("%", "t"?):
        rest.removeFirst()
        word = (word ?? "") + BaseDirectories.runtime
      case ("\\", let next?):
        rest.removeFirst()
        word = (word ?? "") + String(next)
      case ("%", "%"?), ("$", "$"?):
        rest.removeFirst()
        word = (word ?? "") + String(character)
      default: word = (word ?? "") + String(character)
      }
    }
    if let whole = word { words.append(whole) }
    return words
  }

  /// Whether it fits into one line of a unit, which has no escapes for control characters.
  package static func isLine(_ word: String) -> Bool {
    !word.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
  }
}

/// Words of a command in a service file of the message bus, which splits them as a shell does.
enum BusWord {
  /// A word, quoted if needed, without backslashes, which the bus's two implementations treat differently.
  package static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "/._-+:=@".utf8.contains($0)
    }
    guard !plain || word.isEmpty else { return word }
    return "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'"'"'"#))'"
  }

  /// The words of a command that were written by ``quoted(_:)``.
  package static func words(of command: some StringProtocol) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in command {
      switch character {
      case quote: quote = nil
      case "'" where quote == nil, "\"" where quote == nil:
        quote = character
        word = word ?? ""
      case " " where quote == nil:
        if let whole = word { words.append(whole) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    if let whole = word { words.append(whole) }
    return words
  }
}
