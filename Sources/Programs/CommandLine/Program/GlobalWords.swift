import ArgumentParser

/// Allows global options before the command's name: `whorl --store DIR get NAME`. The parser accepts them only after
/// it.
enum GlobalWords {
  private static let withValue = ["--config", "--store", "--passcode-fd", "--reader"]
  private static let flags = ["--json", "--verbose"]
  static let all = withValue + flags
  /// Commands with subcommands.
  private static let groups = Root.configuration.subcommands.filter { !$0.configuration.subcommands.isEmpty }
    .compactMap { $0.configuration.commandName }

  /// The words with leading global options moved behind the command's name, before its other options. If an option
  /// occurs twice, the last one counts.
  static func inPlace(_ words: [String]) -> [String] {
    var leading = 0
    while leading < words.count {
      let name = String(words[leading].prefix { $0 != "=" })
      guard flags.contains(name) || withValue.contains(name) else { break }
      leading += withValue.contains(name) && name == words[leading] ? 2 : 1
    }
    guard leading > 0, leading < words.count else { return words }
    let rest = words[leading...]
    let name = rest.prefix(groups.contains(words[leading]) ? 2 : 1).prefix { !$0.hasPrefix("-") }
    return Array(name) + words[..<leading] + rest[name.endIndex...]
  }
}
