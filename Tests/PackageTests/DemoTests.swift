import Foundation
import Testing

/// Runs `scripts/demo` as on a machine with a reader: a stand-in for whorl records how it is called.
@Suite("make demo")
struct DemoTests {
  @Test(
    "make demo uses a real reader through libfprint, so that its clean-up deletes no finger of fprintd",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
  func realReader() async throws {
    let calls = try await calls(answer: "y")
    #expect(calls.contains { $0.hasPrefix("init ") }, "it was told to use it: \(calls)")
    for call in calls { #expect(call.contains("--reader libfprint"), "\(call)") }
  }

  @Test(
    "make demo does not use the user's own configuration",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
  func ownConfiguration() async throws {
    for call in try await calls(answer: "n") { #expect(!call.contains("/of/the/person"), "\(call)") }
  }

  @Test(
    "make demo reports an unusable reader with advice, and uses a virtual reader instead",
    arguments: [(69, "no permission to open the reader"), (75, "[busy]: held by fprintd")])
  func reader(status: Int, problem: String) async throws {
    try await withTemporaryFolder { folder in
      try writeScript(
        """
        case $1 in
          doctor) echo '\(problem)' >&2; exit \(status) ;;
          *) exit 1 ;;
        esac
        """, to: folder.appending(path: "whorl"))
      let demo = try await run("sh", "-c", "scripts/demo \(folder.path) </dev/null")
      #expect(demo.output.contains("make install-udev"), "\(demo.output)\(demo.errors)")
      #expect(demo.output.contains("A virtual reader stands in"))
    }
  }

  /// The arguments of each call of whorl, and its configuration folder, up to the first failing call, `init`.
  private func calls(answer: String) async throws -> [String] {
    try await withTemporaryFolder { folder in
      try writeScript(
        """
        echo "$* XDG_CONFIG_HOME=$XDG_CONFIG_HOME" >>'\(folder.path)/calls'
        case $1 in
          doctor) echo '{"checks":[{"check":"open"}]}' ;;
          reader) echo 'A reader' ;;
          *) exit 1 ;;
        esac
        """, to: folder.appending(path: "whorl"))
      let demo = try await run(
        "sh", "-c", "echo \(answer) | script -qec 'scripts/demo \(folder.path)' /dev/null",
        environment: ["XDG_CONFIG_HOME": "/of/the/person"])
      #expect(demo.output.contains("Use it?"), "\(demo.output)\(demo.errors)")
      return try String(contentsOf: folder.appending(path: "calls"), encoding: .utf8)
        .split(separator: "\n").map(String.init)
    }
  }
}
