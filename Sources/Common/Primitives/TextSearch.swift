extension StringProtocol {
  /// Whether these words are in the text, byte for byte. The `contains` of the standard library would bring its regular
  /// expressions into `whorl-reader`.
  package func hasBytes(of words: String) -> Bool {
    utf8.indices.contains { utf8[$0...].starts(with: words.utf8) }
  }
}
