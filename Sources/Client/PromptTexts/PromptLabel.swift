/// Makes a name chosen by another program safe for a prompt: short, on one line, and without the characters with which
/// the prompt delimits names.
package enum PromptLabel {
  /// The most characters of a name that are shown.
  package static let longest = 64
  /// The most names that one prompt shows. It does not release further items.
  package static let most = 8

  /// The name without quotation marks, brackets, line ends, marks of the reading direction and other invisible characters.
  /// Of a long one the middle is left out, so that both ends can be compared.
  package static func text(_ name: String, longest: Int = longest) -> String {
    var plain = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      if isSpace(scalar) { plain.append(" ") } else if !isLeftOut(scalar) { plain.append(scalar) }
    }
    let words = String(plain).split(separator: " ").joined(separator: " ")
    // Counted in code points, since a character may have any number of combining marks.
    let scalars = words.unicodeScalars
    guard scalars.count > longest else { return words }
    let end = (longest - 1) / 2
    return String(String.UnicodeScalarView(scalars.prefix(longest - 1 - end))) + "…"
      + String(String.UnicodeScalarView(scalars.suffix(end)))
  }

  /// All of these names, each between quotation marks.
  ///
  /// - Parameter unnamed: replaces a name without any visible character.
  package static func names(_ names: [String], unnamed: String = "a secret without a name") -> String {
    names.map { name in
      let shown = text(name)
      return "“\(shown.isEmpty ? unnamed : shown)”"
    }.joined(separator: ", ")
  }

  /// The name unchanged if it is one word, else between quotation marks, since a name of several words could imitate
  /// the prompt's own text.
  package static func word(_ name: String) -> String {
    let shown = text(name)
    return shown.isEmpty || shown.contains(where: { $0 == " " || $0 == "," }) ? "“\(shown)”" : shown
  }

  /// Spaces and line ends of all kinds, and letters that look like spaces.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
    default: [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0].contains(scalar.value)
    }
  }

  private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .privateUse, .surrogate, .unassigned: true
    // Quotation marks and brackets.
    case .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation: true
    // Those of other categories, among them the primes and the ideographic ditto mark.
    default: "\"'`´<>＜＞＂＇′″‴‵‶‷ʹʺʼʻˮ〃".unicodeScalars.contains(scalar)
    }
  }
}
