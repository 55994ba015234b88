/// Options that belong to every command may stand before its name, as people write them: `whorl --store DIR get NAME`.
/// The parser knows them behind the name only.
enum GlobalWords {
  private static let withValue = ["--config", "--store", "--passcode-fd", "--reader"]
  static let all = withValue + ["--json"]
  /// Commands whose next word is a command, too.
  private static let groups = ["reader"]

  /// The same words with the leading options of every command moved behind its name, before its own: the last of two
  /// counts.
  static func inPlace(_ words: [String]) -> [String] {
    var leading = 0
    while leading < words.count {
      let name = String(words[leading].prefix { $0 != "=" })
      guard name == "--json" || withValue.contains(name) else { break }
      leading += withValue.contains(name) && name == words[leading] ? 2 : 1
    }
    guard leading > 0, leading < words.count else { return words }
    let rest = words[leading...]
    let name = rest.prefix(groups.contains(words[leading]) ? 2 : 1).prefix { !$0.hasPrefix("-") }
    return Array(name) + words[..<leading] + rest[name.endIndex...]
  }
}
