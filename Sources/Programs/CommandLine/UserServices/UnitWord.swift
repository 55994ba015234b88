import Glibc
import Whorl

/// Words of a command in a unit, in systemd's syntax.
enum UnitWord {
  /// A quoted word, with the runtime directory as a specifier.
  static func quoted(_ word: String) -> String {
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
  static func words(of command: some StringProtocol) -> [String] {
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
  static func isLine(_ word: String) -> Bool { !word.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
}
