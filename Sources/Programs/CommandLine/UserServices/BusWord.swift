/// Words of a command in a service file of the message bus, which splits them as a shell does.
enum BusWord {
  /// A word, quoted if needed, without backslashes, which the bus's two implementations treat differently.
  static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "/._-+:=@".utf8.contains($0)
    }
    guard !plain || word.isEmpty else { return word }
    return "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'"'"'"#))'"
  }

  /// The words of a command that were written by ``quoted(_:)``.
  static func words(of command: some StringProtocol) -> [String] {
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
