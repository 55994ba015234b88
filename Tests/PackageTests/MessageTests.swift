import Foundation
import Testing

@Suite("Messages in the sources")
struct MessageTests {
  /// Labels of 'status' and 'doctor', which are for whoever looks closer.
  private static let tables = ["Status.swift", "Doctor.swift", "Reseal.swift"]

  @Test("of the command line and the agent have no names that only programs and engineers know")
  func plain() throws {
    let files = try Repository.files(
      under: ["Sources/Programs/CommandLine", "Sources/Programs/whorl-agent", "Sources/Session"], extensions: ["swift"])
    #expect(files.count > 100)
    let foreign = /errSec|LAError|kSec|(?i:polkit)|d-bus|D-Bus|\btier\b/
    // The name that --verbose tells, or a case's own.
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
          let word = literal.output.firstMatch(of: foreign)?.output
          guard let word, !(word == "tier" && Self.tables.contains { file.hasSuffix($0) }) else { continue }
          Issue.record("\(file):\(number + 1): \(word)")
        }
      }
    }
  }
}
