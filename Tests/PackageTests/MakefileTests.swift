import Foundation
import Testing

@Suite("make")
struct MakefileTests {
  @Test("help lists every target of the Makefile in one line, and is the default target")
  func helpListsEveryTarget() async throws {
    let help = try await run("make", "--no-print-directory", "help")
    #expect(help.status == 0)
    let listed = help.output.split(separator: "\n").compactMap { $0.wholeMatch(of: /make ([a-z-]+) +\S.*/)?.1 }
    let phony = try #require(try Repository.text("Makefile").firstMatch(of: /\.PHONY:(.*)/)).1.split(separator: " ")
    #expect(listed.sorted() == phony.sorted())
    #expect(help.output.split(separator: "\n").count == listed.count)

    let plain = try await run("make", "--no-print-directory")
    #expect(plain.output == help.output)
  }

  @Test("install puts the programs in their folders, and uninstall removes everything")
  func installsAndUninstalls() async throws {
    try await withTemporaryFolder { folder in
      let places = ["DESTDIR": folder.path, "PREFIX": "/usr", "BIN": try Repository.products.path]
      let installed = try await run("make", "install", environment: places)
      #expect(installed.status == 0, "\(installed.errors)")
      let files = FileManager.default
      #expect(files.isExecutableFile(atPath: folder.appending(path: "usr/bin/whorl").path))
      for helper in ["whorld", "whorl-reader"] {
        #expect(files.isExecutableFile(atPath: folder.appending(path: "usr/libexec/whorl/\(helper)").path))
        #expect(!files.fileExists(atPath: folder.appending(path: "usr/bin/\(helper)").path))
      }

      let removed = try await run("make", "uninstall", environment: places)
      #expect(removed.status == 0, "\(removed.errors)")
      let left = try files.subpathsOfDirectory(atPath: folder.path).filter { path in
        var isFolder: ObjCBool = false
        return files.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isFolder)
          && !isFolder.boolValue
      }
      #expect(left.isEmpty)
    }
  }

  @Test("install with SYSTEM=1 puts the service in its places and marks it last, and uninstall removes everything")
  func installsTheService() async throws {
    try await withTemporaryFolder { folder in
      let places = ["DESTDIR": folder.path, "PREFIX": "/opt/whorl", "BIN": try Repository.products.path, "SYSTEM": "1"]
      let installed = try await run("make", "install", environment: places)
      #expect(installed.status == 0, "\(installed.errors)")
      #expect(installed.output.split(separator: "\n").last?.hasSuffix("/etc/whorl/system") == true)
      let unit = try String(
        contentsOf: folder.appending(path: "opt/whorl/lib/systemd/system/whorld.service"), encoding: .utf8)
      #expect(unit.contains("\nExecStart=/opt/whorl/libexec/whorl/whorld --system\n"))
      #expect(!unit.contains("@PREFIX@"))
      for file in [
        "opt/whorl/lib/systemd/system/whorld.socket", "opt/whorl/lib/sysusers.d/whorl.conf",
        "opt/whorl/lib/tmpfiles.d/whorl.conf", "usr/share/polkit-1/actions/org.whorl.policy",
        "opt/whorl/share/dbus-1/interfaces/org.whorl.Vault1.xml",
      ] {
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: file).path), "\(file)")
      }

      let removed = try await run("make", "uninstall", environment: places)
      #expect(removed.status == 0, "\(removed.errors)")
      let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isFolder)
          && !isFolder.boolValue
      }
      #expect(left.isEmpty)
    }
  }

  /// Each argument: the runner's output, its exit status, and whether `make test` must succeed.
  @Test(
    "test succeeds only if the runner reports at its end that tests passed",
    arguments: [
      ("Test run with 2 tests in 1 suite passed after 0.1 seconds.", 0, true),
      ("Test run with 1 test in 0 suites passed after 0.1 seconds with 1 warning.", 0, true),
      ("Test run with 2 tests in 1 suite failed after 0.1 seconds with 1 issue.", 1, false),
      ("Test run with 2 tests in 1 suite passed after 0.1 seconds.", 139, false),
      ("Test run with 0 tests in 0 suites passed after 0.1 seconds.", 0, false),
      ("Test run started.", 0, false),
    ])
  func closingLine(line: String, status: Int, succeeds: Bool) async throws {
    try await withTemporaryFolder { folder in
      try writeScript(
        "case $1 in test) echo '\(line)' && echo 'a late word' && exit \(status) ;; esac",
        to: folder.appending(path: "swift"))
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      let test = try await run("scripts/test", environment: ["PATH": "\(folder.path):\(path)"])
      #expect((test.status == 0) == succeeds, "\(test.output)\(test.errors)")
      if succeeds { #expect(test.output.hasSuffix("\(line)\n")) }
    }
  }
}
