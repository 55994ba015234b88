import Foundation
import Testing

@Suite("Messages in the source code")
struct MessageTests {
  @Test("messages of the command line and the agent contain no technical names")
  func plain() throws {
    let files = try Repository.files(
      under: [
        "Sources/Programs/CommandBase", "Sources/Programs/CommandLine", "Sources/Programs/whorl-reader-kit",
        "Sources/Programs/whorl-agent", "Sources/Session", "Sources/Client/Settings",
        "Sources/Client/Moving/SyncRepository", "Sources/Vault/VaultSync",
      ], extensions: ["swift"])
    #expect(files.count > 100)
    let foreign = /errSec|LAError|kSec|(?i:polkit)|d-bus|D-Bus|\btier\b/
    // Words of Whorl's own, which a person has not read about. Those of options are in the help of the options.
    let own =
      /notif(y|ies) Whorl|[Hh]and(s|ed)? (it |them )?over|sealed beside|\b[Cc]ircles?\b|\b[Ww]allets?\b|Landlock|\bliving\b/
    let ofOptions = /\bpresence\b|generic-password|when-unlocked/
    // The name that --verbose prints, or the case's own.
    let named = /name: (?:\w+ == \.\w+ \? )?"[^"]*"/
    for file in files {
      var isHelp = false
      for (number, line) in try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        let quotes = line.matches(of: /"""/).count
        defer { if quotes % 2 == 1 { isHelp.toggle() } }
        guard !isHelp, quotes == 0, !line.contains(/^ *\/\//) else { continue }
        // What a person types, the name of a file, and a key of KDE's settings.
        let typed = ["--circle", "sudo, polkit or screen", "polkit-1", "Default Wallet"].reduce(String(line)) {
          $0.replacing($1, with: "")
        }
        for literal in typed.replacing(named, with: "").matches(of: /"[^"]*"/) {
          // A word alone is a key of JSON, the name of a file or the value of an option.
          let words = literal.output.replacing(/\\\([^)]*\)/, with: "")
          let isName = words.wholeMatch(of: /"[\w.\/-]*"/) != nil
          let isOption =
            isName || line.contains(/(?:h|ArgumentH)elp(?:: |\()|ValidationError\(|valueName: "rule"/)
          // These files have the technical names beside the messages.
          let hasNames = file.hasSuffix("Failure.swift")
          let found =
            (hasNames ? nil : words.firstMatch(of: foreign)?.output) ?? (isName ? nil : words.firstMatch(of: own)?.0)
            ?? (isOption ? nil : words.firstMatch(of: ofOptions)?.output)
          guard let found else { continue }
          Issue.record("\(file):\(number + 1): \(found)")
        }
      }
    }
  }

  @Test("messages that end a command say what to do next")
  func advice() throws {
    var found = 0
    let folders = [
      "Sources/Programs/CommandBase", "Sources/Programs/CommandLine", "Sources/Programs/whorl-reader-kit",
      "Sources/Client/Settings",
    ]
    for file in try Repository.files(under: folders, extensions: ["swift"])
    where !file.hasSuffix("/FailureReport.swift") && !file.hasSuffix("/Failure.swift") {
      let text = try Repository.text(file)
      for call in text.matches(of: /Failure\(\s*\.\w+, (?!\.)|\.usage\(|\.interactionNotAllowed\(/) {
        var depth = 1
        let arguments = text[call.range.upperBound...].prefix { character in
          depth += character == "(" ? 1 : character == ")" ? -1 : 0
          return depth > 0
        }
        found += 1
        #expect(
          arguments.contains("advice:") && !arguments.contains(": nil"), "\(file): \(call.output)\(arguments)")
      }
    }
    #expect(found > 50)
  }
}
