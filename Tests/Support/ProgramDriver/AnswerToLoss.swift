/// What a person answers where a command that takes something back asks.
package enum AnswerToLoss: String, CaseIterable, Sendable {
  case onlyEnter = ""
  case yes = "y"
  case anotherWord = "remove"
  case theWord = "delete"
  case endOfInput = "\u{4}"

  /// The answer to a prompt, by the last line on the screen. Who types the word agrees to every other question.
  package func answers(_ line: String) -> String {
    if line.contains("asscode") { return TestStore.passcode }
    return self == .theWord && line.contains("/N]") ? "y" : rawValue
  }
}
