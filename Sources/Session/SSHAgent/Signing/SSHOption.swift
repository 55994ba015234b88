/// A line of `ssh_config`, or the value of `ssh -o`: a keyword and its arguments.
struct SSHOption {
  /// In lower case.
  let keyword: String
  let words: [String]

  /// Nil for comments and empty lines.
  init?(_ text: some StringProtocol) {
    let text = text.drop { $0.isWhitespace }
    guard let first = text.first, first != "#" else { return nil }
    let keyword = text.prefix { !$0.isWhitespace && $0 != "=" }
    var rest = text[keyword.endIndex...].drop { $0.isWhitespace }
    if rest.first == "=" { rest.removeFirst() }
    (self.keyword, words) = (keyword.lowercased(), Self.words(of: rest))
  }

  /// Words with spaces between them. Quotes group a word, and `#` at the start of a word begins a comment.
  private static func words(of text: some StringProtocol) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in text {
      if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character.isWhitespace {
        if let done = word { words.append(done) }
        word = nil
      } else if character == "\"" || character == "'" {
        (quote, word) = (character, word ?? "")
      } else if character == "#", word == nil {
        return words
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}
