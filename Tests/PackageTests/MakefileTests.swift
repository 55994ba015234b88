import Foundation
import Testing

@Suite("make")
struct MakefileTests {
  @Test("make help lists every target of the Makefile in one line, and is the default target")
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

  @Test("make install puts the programs in their folders, and make uninstall removes everything")
  func installsAndUninstalls() async throws {
    try await withTemporaryFolder { folder in
      let places = [
        "DESTDIR": folder.path, "PREFIX": "/usr", "BIN": try Repository.products.path,
        "ZSH_FOLDER": "share/zsh/vendor-completions",
      ]
      let installed = try await run("make", "install", environment: places)
      #expect(installed.status == 0, "\(installed.errors)")
      let files = FileManager.default
      for program in ["whorl", "whorl-agent"] {
        #expect(files.isExecutableFile(atPath: folder.appending(path: "usr/bin/\(program)").path))
      }
      let unit = try String(
        contentsOf: folder.appending(path: "usr/lib/systemd/user/whorl-agent.service"), encoding: .utf8)
      #expect(unit.contains("\nExecStart=/usr/bin/whorl-agent\n"))
      let secrets = try String(
        contentsOf: folder.appending(path: "usr/lib/systemd/user/whorl-secrets.service"), encoding: .utf8)
      #expect(secrets.contains("\nExecStart=/usr/bin/whorl-agent --secret-service\n"))
      #expect(
        files.fileExists(atPath: folder.appending(path: "usr/share/xdg-desktop-portal/portals/whorl.portal").path))
      for completion in ["bash-completion/completions/whorl", "zsh/vendor-completions/_whorl"] {
        #expect(files.fileExists(atPath: folder.appending(path: "usr/share/\(completion)").path), "\(completion)")
      }
      for helper in ["whorld", "whorl-reader", "may-remove", "finger-login"] {
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

  @Test("make install strips the programs, unless the packager keeps the symbols elsewhere", arguments: [nil, "true"])
  func strips(program: String?) async throws {
    try await withTemporaryFolder { folder in
      let places = [
        "DESTDIR": folder.path, "PREFIX": "/usr", "BIN": try Repository.products.path, "SYSTEM": "1",
        "STRIP": program ?? "",
      ]
      for script in ["scripts/install", "scripts/install-tests"] {
        let installed = try await run(script, environment: places)
        #expect(installed.status == 0, "\(installed.errors)")
      }
      let module = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
        $0.hasSuffix("/pam_whorl.so")
      }
      #expect(module.count == 1)
      for file in module + [
        "usr/bin/whorl", "usr/bin/whorl-agent", "usr/bin/whorl-finger", "usr/bin/whorl-reader-kit",
        "usr/libexec/whorl/whorld",
        "usr/libexec/whorl/whorl-reader", "usr/libexec/whorl/whorl-program-path", "usr/libexec/whorl/whorl-fido",
      ] {
        let sections = try await run("readelf", "--sections", "--wide", folder.appending(path: file).path).output
        #expect(sections.contains(".text"))
        #expect(sections.contains(".debug_info") == (program != nil), "\(file)")
      }
    }
  }

  @Test("make install SYSTEM=1 puts the service in its places and marks it last, and uninstall removes everything")
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
        "opt/whorl/share/dbus-1/interfaces/org.whorl.Login1.xml", "etc/X11/Xsession.d/80whorl-agent",
        "etc/apparmor.d/whorld", "opt/whorl/share/zsh/site-functions/_whorl",
      ] {
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: file).path), "\(file)")
      }

      let module = try #require(
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).first { $0.hasSuffix("/pam_whorl.so") })
      #expect(module.hasPrefix("usr/lib"))
      // The module runs the program of this installation.
      let bytes = try Data(contentsOf: folder.appending(path: module))
      #expect(bytes.range(of: Data("/opt/whorl/bin/whorl\0".utf8)) != nil)

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
    "make test succeeds only if the runner reports at its end that tests passed",
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

  @Test("make test lists at its end what failed, however much was printed after it")
  func failures() async throws {
    try await withTemporaryFolder { folder in
      let issue = "✘ Test \"opens\" recorded an issue at DoorTests.swift:7:5: Expectation failed: false"
      try writeScript(
        """
        [ "$1" = test ] || exit 0
        printf '%s\\n' '\(issue)' '✔ Test "closes" passed after 0.1 seconds.' 'Test run with 2 tests in 1 suite failed.'
        exit 1
        """,
        to: folder.appending(path: "swift"))
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
      let test = try await run("scripts/test", environment: ["PATH": "\(folder.path):\(path)"])
      #expect(test.status == 1)
      #expect(
        test.errors == """
          test: what failed:
          \(issue)
          test: status 1; Test run with 2 tests in 1 suite failed.

          """)
    }
  }

  /// A test runner made of these shell commands; `$events` is its file of events.
  private func writeRunner(_ words: String, to folder: URL) throws {
    try writeScript(
      """
      [ "$1" = test ] || exit 0
      all=$*
      while [ "$1" != --event-stream-output-path ]; do shift; done
      events=$2
      event() { printf '{"kind":"event","payload":{"kind":"%s","messages":[%s],"testID":"%s"}}\\n' "$@" >>"$events"; }
      \(words)
      """,
      to: folder.appending(path: "swift"))
  }

  private func runTests(with folder: URL, _ environment: [String: String]) async throws -> Finished {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return try await run(
      "scripts/test", environment: environment.merging(["PATH": "\(folder.path):\(path)"]) { one, _ in one })
  }

  /// Each argument: whether the second run is asked for, whether it passes, and the exit status.
  @Test(
    "make test runs failed tests once more, one after another, if that is asked for",
    arguments: [(true, true, 0), (true, false, 1), (false, true, 1)])
  func unsteady(isAskedFor: Bool, passes: Bool, status: Int) async throws {
    try await withTemporaryFolder { folder in
      try writeRunner(
        """
        case $all in *--filter*)
          echo "$all" >'\(folder.path)/second'
          echo 'Test run with 3 tests in 1 suite \(passes ? "passed" : "failed") after 1 second.'
          exit \(passes ? 0 : 1) ;;
        esac
        for test in 'House.DoorTests\\/opens(_:)\\/Door.swift:7:4' 'House.BellTests\\/rings()\\/Bell.swift:9:4'; do
          event testStarted '' "$test"
          event testEnded '{"symbol":"fail"}' "$test"
        done
        event testEnded '{"symbol":"pass"}' 'House.DoorTests\\/closes()\\/Door.swift:17:4'
        event testEnded '{"symbol":"fail"}' House.DoorTests
        echo 'Test run with 9 tests in 4 suites failed after 2 seconds with 3 issues.'
        exit 1
        """,
        to: folder)
      let test = try await runTests(with: folder, ["UNSTEADY": isAskedFor ? "again" : ""])
      #expect(test.status == status, "\(test.output)\(test.errors)")
      let failed = "House[.]BellTests/rings[(]|House[.]DoorTests/opens[(]"
      #expect(
        test.errors.contains("UNSTEADY: failed beside other tests, and passed alone: \(failed)")
          == (status == 0))
      let second = try? String(contentsOf: folder.appending(path: "second"), encoding: .utf8)
      #expect(second?.contains("--filter ^(\(failed))") ?? false == isAskedFor)
    }
  }

  @Test("make test ends a process that a test left behind with the runner's output open, and names it")
  func leftBehind() async throws {
    try await withTemporaryFolder { folder in
      try writeRunner(
        """
        event testStarted '' 'House.DoorTests\\/opens()\\/Door.swift:7:4'
        event testEnded '{"symbol":"pass"}' 'House.DoorTests\\/opens()\\/Door.swift:7:4'
        event runEnded '' ''
        {
          sleep 1000 &
          echo 'Test run with 1 test in 1 suite passed after 1 second.'
        } | while read -r line; do echo "$line"; done
        """,
        to: folder)
      let test = try await runTests(with: folder, ["LEFT": "0"])
      #expect(test.status == 0, "\(test.output)\(test.errors)")
      #expect(test.errors.contains(/LEFT BEHIND: tests did not end these processes: [0-9]+ sleep 1000/))
    }
  }

  @Test("make test ends a run that makes no progress, and names what was running", arguments: [true, false])
  func stalled(passesLater: Bool) async throws {
    try await withTemporaryFolder { folder in
      try writeRunner(
        """
        case $all in *--filter*)
          echo 'Test run with 1 test in 1 suite passed after 1 second.'
          exit ;;
        esac
        event testStarted '' 'House.DoorTests\\/opens()\\/Door.swift:7:4'
        event testStarted '' 'House.BellTests\\/rings()\\/Bell.swift:9:4'
        event testEnded '{"symbol":"pass"}' 'House.DoorTests\\/opens()\\/Door.swift:7:4'
        while :; do sleep 1; done
        """,
        to: folder)
      let test = try await runTests(with: folder, ["STALL": "0", "UNSTEADY": passesLater ? "again" : ""])
      #expect((test.status == 0) == passesLater, "\(test.output)\(test.errors)")
      #expect(test.errors.contains("for 0 minutes; running were: House[.]BellTests/rings[(]\n"))
      if passesLater {
        #expect(test.errors.contains("--filter") == false)
        #expect(test.output.hasSuffix("Test run with 1 test in 1 suite passed after 1 second.\n"))
      }
    }
  }
}
