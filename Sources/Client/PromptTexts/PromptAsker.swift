/// The program for which a prompt asks, in the words of the prompt.
package struct PromptAsker: Sendable, Hashable {
  /// The name for people: "Evolution", "git", "a program that cannot be identified". The program cannot choose it,
  /// except by the name of its file.
  package var name: String
  /// Details, such as the path of its file.
  package var details: String
  /// The name or the path of its icon; nil where it has none.
  package var icon: String?

  package init(name: String, details: String, icon: String? = nil) {
    (self.name, self.details, self.icon) = (name, details, icon)
  }

  /// The first sentence of the prompt: "Evolution wants to read “Mail of alice”."
  package func wants(to act: String) -> String { "\(leadingName) wants to \(act)." }

  /// The text that replaces an unanswered prompt.
  package func wanted(to act: String) -> String { "\(leadingName) wanted to \(act); nobody answered." }

  /// The line below the prompt.
  package var detailsLine: String { "Program: \(details)" }

  /// The name at the beginning of a sentence. Only the prompt's own words are capitalized; a name stays unchanged.
  private var leadingName: String { name.hasPrefix(Self.ownWords) ? "A" + name.dropFirst() : name }
  private static let ownWords = "a program that "

  /// The name of a program whose file is not known.
  package static let unidentified = "\(ownWords)cannot be identified"

  /// The name of a program whose file was replaced or removed since it started: only its own claim.
  package static func updated(_ claimed: String) -> String {
    "\(ownWords)says it was \(PromptLabel.word(claimed)) before an update"
  }
}
