// The reader kit, for makers of readers and drivers: `ReaderTest` runs the steps of a `ReaderTestPlan` on a reader
// (`ReaderTestRun`) and reports them, and `ReaderRecord` records a reader, to be tested without it.

import ArgumentParser
import CommandBase

@main
enum Program: CommandProgram {
  static let root: any ParsableCommand.Type = Root.self
  static let synonyms = ["capture": "record", "run": "test", "try": "test", "verify": "test"]
  static let elsewhere = ["list": "whorl reader list", "use": "whorl reader use"]

  static func lines(for words: [String], _ connection: CommandConnection) async throws -> [String]? { nil }
}

struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whorl-reader-kit",
    abstract: "Test a fingerprint reader with your own finger, or record it.",
    discussion: """
      Examples:
        whorl-reader-kit test --page results.md
        whorl-reader-kit test --help
        whorl-reader-kit record my-reader

      'whorl reader list' lists the readers that are attached.
      """,
    version: Version.text,
    subcommands: [ReaderTest.self, ReaderRecord.self])
}
