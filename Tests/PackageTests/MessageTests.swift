import Foundation
import Testing

@Suite("Messages in the source code")
struct MessageTests {
  @Test("messages of the command line and the agent contain no technical names")
  func plain() throws {
    let files = try Repository.files(
      under: ["Sources/Programs/CommandLine", "Sources/Programs/whorl-agent", "Sources/Session"], extensions: ["swift"])
    #expect(files.count > 100)
    let foreign = /errSec|LAError|kSec|(?i:polkit)|d-bus|D-Bus|\btier\b/
    // The name that --verbose prints, or the case's own.
    let named = /name: (?:\w+ == \.\w+ \? )?"[^"]*"/
    for file in files {
      var isHelp = false
      for (number, line) in try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        let quotes = line.matches(of: /"""/).count
        defer { if quotes % 2 == 1 { isHelp.toggle() } }
        guard !isHelp, quotes == 0, !line.contains(/^ *\/\//), !file.hasSuffix("Failure.swift") else { continue }
        for literal in line.replacing(named, with: "").matches(of: /"[^"]*"/) {
          guard let word = literal.output.firstMatch(of: foreign)?.output else { continue }
          Issue.record("\(file):\(number + 1): \(word)")
        }
      }
    }
  }

  @Test("messages that end a command say what to do next")
  func advice() throws {
    var found = 0
    for file in try Repository.files(under: ["Sources/Programs/CommandLine"], extensions: ["swift"])
    where !file.contains("/Failures/") {
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
