/// The program for which a prompt asks, in the words of the prompt.
package struct PromptAsker: Sendable, Hashable {
  /// What a person knows it by: "Evolution", "git", "a program that cannot be identified". Nothing that the program itself
  /// has chosen, but the name of its file.
  package var name: String
  /// What is known of it beside that, such as the path of its file, for those who want to know.
  package var details: String
  /// The name or the path of its icon; nil where it has none.
  package var icon: String?

  package init(name: String, details: String, icon: String? = nil) {
    (self.name, self.details, self.icon) = (name, details, icon)
  }

  /// The first sentence of the prompt: "Evolution wants to read “Mail of alice”."
  package func wants(to act: String) -> String { "\(leadingName) wants to \(act)." }

  /// What is left of a prompt that nobody has answered.
  package func wanted(to act: String) -> String { "\(leadingName) wanted to \(act); nobody answered." }

  /// The line below the prompt.
  package var detailsLine: String { "Program: \(details)" }

  /// The name as a sentence begins. Only words of the prompt's own have a capital letter added: a name stays as it is.
  private var leadingName: String { name.hasPrefix(Self.unidentified) ? "A" + name.dropFirst() : name }

  /// The name of a program whose file is not known.
  package static let unidentified = "a program that cannot be identified"
}
