/// The addresses in one field of another program's entry.
enum EntryAddresses {
  /// The most that are told apart; what follows them stays with the last one.
  static let most = 100

  /// Bitwarden, Proton Pass and NordPass write commas between the addresses of an entry, some also a list of JSON. In a path or
  /// a query a comma may belong to the address itself, so there it ends one only in front of a scheme.
  static func split(_ text: String) -> [String] {
    var text = text[...]
    let isList = text.hasPrefix("[\"") && text.hasSuffix("\"]")
    if isList { text = text.dropFirst().dropLast() }
    var found: [String] = []
    var current = ""
    for part in text.split(separator: ",", maxSplits: most - 1, omittingEmptySubsequences: false) {
      let next = trimmed(part, isList)
      if current.isEmpty || isList || hasScheme(next) || isHost(current) && isHost(next.prefix { !"/?#".contains($0) })
      {
        found.append(current)
        current = next
      } else {
        current += ",\(part)"
      }
    }
    found.append(current)
    return found.map { trimmed($0[...], isList) }.filter { !$0.isEmpty }
  }

  private static func trimmed(_ part: Substring, _ isList: Bool) -> String {
    var part = part.drop(while: \.isWhitespace)
    while let last = part.last, last.isWhitespace { part.removeLast() }
    guard isList, part.count > 1, part.hasPrefix("\""), part.hasSuffix("\"") else { return String(part) }
    return String(part.dropFirst().dropLast()).replacing("\\/", with: "/")
  }

  private static func hasScheme(_ text: String) -> Bool {
    guard let end = text.firstRange(of: "://")?.lowerBound, let first = text.first, first.isASCII, first.isLetter else {
      return false
    }
    return text[..<end].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
  }

  /// Whether a text is the name of a host, perhaps after a scheme, and nothing more.
  private static func isHost(_ text: some StringProtocol) -> Bool {
    let host = text.split(separator: "://", maxSplits: 1).last ?? ""
    return host.contains(".") && host.allSatisfy { $0.isLetter || $0.isNumber || ".-:_[]".contains($0) }
  }
}
