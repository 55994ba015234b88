/// Options that belong to every command may stand before its name, as people write them: `whorl --store DIR get NAME`.
/// The parser knows them behind the name only.
enum GlobalWords {
  private static let withValue = ["--config", "--store", "--passcode-fd", "--reader"]
  static let all = withValue + ["--json"]

  /// The same words with the leading options of every command moved to the end, or before `--`.
  static func inPlace(_ words: [String]) -> [String] {
    var leading = 0
    while leading < words.count {
      let name = String(words[leading].prefix { $0 != "=" })
      guard name == "--json" || withValue.contains(name) else { break }
      leading += withValue.contains(name) && name == words[leading] ? 2 : 1
    }
    guard leading > 0, leading < words.count else { return words }
    let rest = words[leading...]
    let end = rest.firstIndex(of: "--") ?? rest.endIndex
    return Array(rest[..<end]) + words[..<leading] + rest[end...]
  }
}
