import Foundation
import ProgramDriver
import Testing

/// The script that boots systems and tells stories in them, with stand-ins for what boots.
@Suite("make system-test")
struct SystemTestScriptTests {
  /// Runs the script for stories of these texts, in a folder in place of the checkout.
  private func run(_ stories: [String: String]) async throws -> Invocation.Result {
    try await withFolder { folder in
      let files = FileManager.default
      for each in [
        "scripts", "Tests/System", "Tests/Support", "docs/pictures", "Examples/DBus", "Benchmarks", ".build/packages",
        "bin",
      ] {
        try files.createDirectory(atPath: "\(folder)/\(each)", withIntermediateDirectories: true)
      }
      for each in [
        "Tests/Support/screen-reader.py", "Tests/Support/text-listener.py", "docs/pictures/picture.story",
        "Examples/DBus/example",
        "Benchmarks/speed.story", ".build/packages/a.deb",
      ] {
        try writeFile("\(folder)/\(each)", [])
      }
      let script = try Repository.text("scripts/system-test")
      #expect(script.contains("for folder in /sys/fs/cgroup "))
      try write(script.replacing("/sys/fs/cgroup", with: "\(folder)/cgroup"), "\(folder)/scripts/system-test")
      // What a story writes in its system is in the folder of that.
      let root = "\(folder)/.build/system-test/root"
      let common = try Repository.text("Tests/System/common.sh").replacing("/var/lib/", with: "\(root)/var/lib/")
      try write(common, "\(folder)/Tests/System/common.sh")
      for (name, text) in stories {
        try write(". \(folder)/Tests/System/common.sh\n\(text)\n", "\(folder)/Tests/System/\(name).story")
      }
      try write("#!/bin/sh\nmkdir -p \"$2/var/lib\"\n", "\(folder)/scripts/make-root")
      let programs = [
        "id": "echo 0", "unshare": "", "mmdebstrap": "", "systemd-nspawn": "exec sleep 1000", "pgrep": "echo \"$2\"",
        // Runs what follows the name of the shell, in this system.
        "nsenter": """
        while [ "$1" != sh ]; do
          case $1 in systemctl) echo running && exit ;; journalctl) exit ;; esac
          shift
        done
        exec sh "\(root)$2"
        """,
      ]
      for (name, text) in programs { try write("#!/bin/sh\n\(text)\n", "\(folder)/bin/\(name)") }
      return try await Invocation(
        program: "/bin/sh", arguments: ["\(folder)/scripts/system-test"] + stories.keys.sorted(),
        environment: ["PATH": "\(folder)/bin:/usr/bin:/bin"]
      ).run()
    }
  }

  private func write(_ text: String, _ path: String) throws {
    try writeFile(path, Array(text.utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
  }

  @Test("system-test counts a story that cannot be told here neither as passed nor as failed, and names it at the end")
  func skipped() async throws {
    let told = try await run([
      "package-a": "echo '  told'", "package-b": "skip no suites are here", "package-c": "skip_part no reader is here",
    ])
    #expect(told.status == 0, "\(told.text)\(told.diagnostics)")
    #expect(told.text.contains("\n  skipped: no suites are here\n"))
    let last = "package-b (no suites are here), part of package-c (no reader is here)"
    #expect(told.text.hasSuffix("system-test: 2 passed, 0 failed, skipped: \(last)\n"), "\(told.text)")
  }

  @Test("system-test fails with a story that fails, also by the status with which other scripts skip")
  func failed() async throws {
    let told = try await run(["package-a": "fail here", "package-b": "exit 77"])
    #expect(told.status == 1, "\(told.text)\(told.diagnostics)")
    #expect(told.text.hasSuffix("system-test: 0 passed, 2 failed\n"), "\(told.text)")
  }

  @Test("a story ends early only by the function that counts it as skipped")
  func stories() throws {
    let stories = try Repository.files(under: ["Tests/System"], extensions: ["story"])
    for story in stories where try Repository.text(story).contains("skip() {") {
      Issue.record("\(story) has a function of its own: use that of common.sh")
    }
    #expect(try Repository.text("Tests/System/passkey-suites.story").contains("|| skip "))
  }
}
