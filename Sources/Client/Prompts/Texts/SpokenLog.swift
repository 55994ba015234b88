package import SecretModel

extension AuditEntry {
  /// What the person was asked for and what else happened, each in a few words.
  package var details: [String] {
    var words: [String] = []
    if !prompts.isEmpty {
      words.append("asked for \(prompts.map { $0.rawValue.replacing("-", with: " ") }.joined(separator: ", "))")
    }
    if wrongPasscodes > 0 { words.append(Spoken.plural(wrongPasscodes, "wrong passcode")) }
    if unmatchedTouches > 0 {
      words.append("\(Spoken.plural(unmatchedTouches, "touch", "touches")) matched nobody")
    }
    if isSetChanged { words.append("the enrolled fingers were changed") }
    if omitted > 0 { words.append("\(Spoken.plural(omitted, "request")) before it left out") }
    return words
  }
}

extension AuditEntry.Outcome {
  /// "done", "authentication failed".
  package var spoken: String {
    switch self {
    case .done: return "done"
    case .rejected: return "rejected by another program"
    case .failed(.timedOut): return "not answered"
    case .failed(let name):
      var words = ""
      for character in name.rawValue {
        if character.isUppercase, !words.isEmpty { words += " " }
        words += character.lowercased()
      }
      return words
    }
  }
}
