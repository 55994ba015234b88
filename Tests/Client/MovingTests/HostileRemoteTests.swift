import Glibc
import Moving
import ProgramDriver
import SecretModel
import Testing

@Suite("A hostile or careless remote")
struct HostileRemoteTests {
  /// Runs with one machine that has published, and a second one with nothing.
  private func withTwo(_ body: @Sendable (String, Machine, Machine) async throws -> Void) async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["circle/a": "1", "items/x": "1"]))
      try await one.sync()
      try await body(folder, one, try await Machine.named("two", in: folder, PretendVault([:])))
    }
  }

  @Test(
    "symbolic links, submodules, programs and strange names in a remote are ignored and named; the rest is taken")
  func strangeFiles() async throws {
    try await withTwo { folder, one, two in
      let text = try await blob("/etc/passwd", in: folder)
      let tree = try await git("mktree", in: "\(folder)/remote", input: "100644 blob \(text)\tconfig\n")
      let added = try await blob("good", in: folder)
      try await plant(
        [
          "120000 blob \(text)\tlink", "160000 commit 1111111111111111111111111111111111111111\tmodule",
          "100755 blob \(text)\tprogram", "040000 tree \(tree)\t.git", "100644 blob \(text)\t.gitmodules",
          "100644 blob \(text)\t.gitattributes", "100644 blob \(text)\tUpper", "100644 blob \(text)\tgrün",
          "100644 blob \(text)\t-option", "100644 blob \(text)\t\"a\\nb\"", "100644 blob \(added)\tgood",
        ], over: folder)
      for machine in [one, two] {
        let report = try await machine.sync()
        #expect(report.refused.count == 10, "\(report.refused)")
        #expect(machine.vault.files["good"] == "good")
        #expect(machine.vault.files.count == 4)
      }
      #expect(access("\(folder)/two/sync/repository/config.worktree", F_OK) != 0)
    }
  }

  @Test("of files that cannot be a circle's a sync run names a hundred, and ignores all")
  func manyNames() async throws {
    try await withTwo { folder, one, _ in
      let text = try await blob("x", in: folder)
      try await plant((0..<150).map { "100644 blob \(text)\tUpper\($0)" }, over: folder)
      #expect(try await one.sync().refused.count == 100)
      #expect(one.vault.files.count == 3)
    }
  }

  @Test("a remote that replaces a file with a symbolic link is reported as having lost the file")
  func replacedFile() async throws {
    try await withTwo { folder, one, _ in
      let text = try await blob("items", in: folder)
      try await plant(["120000 blob \(text)\titems"], over: folder)
      let report = try await one.sync()
      #expect(report.isHeldBack && report.lost == 1)
    }
  }

  @Test("a file of 50 MB of zeros in a remote is ignored as too large, and the rest is taken")
  func hugeFile() async throws {
    try await withTwo { folder, one, two in
      let made = try await Invocation(
        program: "/bin/sh",
        arguments: [
          "-c", "head -c 50000000 /dev/zero | git -C '\(folder)/remote' hash-object -w --stdin",
        ]
      ).run()
      let huge = made.text.prefix(40)
      let added = try await blob("good", in: folder)
      try await plant(["100644 blob \(huge)\thuge", "100644 blob \(added)\tzgood"], over: folder)
      for machine in [one, two] {
        let report = try await machine.sync()
        #expect(report.refused == [SyncReceipt.Refusal(path: "huge", reason: "is too large")])
        #expect(machine.vault.files["zgood"] == "good")
      }
    }
  }

  @Test("an object in a remote that claims another length than it has fails the sync run, and changes nothing")
  func lyingObject() async throws {
    try await withTwo { folder, one, two in
      // A loose object: the words "blob 1000000000" and a NUL, and few bytes, deflated without compression.
      let added = try await blob("a file that is replaced", in: folder)
      try await plant(["100644 blob \(added)\tliar"], over: folder)
      let header = Array("blob 1000000000\0short".utf8)
      var adler: (UInt32, UInt32) = (1, 0)
      for byte in header {
        adler.0 = (adler.0 + UInt32(byte)) % 65_521
        adler.1 = (adler.1 + adler.0) % 65_521
      }
      let sum = adler.1 << 16 | adler.0
      let length = UInt16(header.count)
      let stored =
        [0x78, 0x01, 0x01, UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
        + header + [UInt8(sum >> 24), UInt8(sum >> 16 & 0xFF), UInt8(sum >> 8 & 0xFF), UInt8(sum & 0xFF)]
      let path = "\(folder)/remote/objects/\(added.prefix(2))/\(added.dropFirst(2))"
      unlink(path)
      try writeFile(path, stored)
      await #expect(throws: SyncRunError.self) { try await two.sync() }
      #expect(two.vault.files.count == 1)
      #expect(one.vault.files.count == 3)
    }
  }

  @Test("a commit of a remote that git finds malformed is not taken")
  func malformed() async throws {
    try await withTwo { folder, one, two in
      let remote = "\(folder)/remote"
      let added = try await blob("good", in: folder)
      let tree = try await git(
        "mktree", in: remote,
        input: try await git("ls-tree", "main", in: remote) + "\n100644 blob \(added)\tgood\n")
      let parent = try await git("rev-parse", "main", in: remote)
      // Nobody has made it.
      let commit = try await git(
        "hash-object", "-t", "commit", "-w", "--literally", "--stdin", in: remote,
        input: "tree \(tree)\nparent \(parent)\n\nplanted\n")
      try await git("update-ref", "refs/heads/main", commit, in: remote)
      for machine in [one, two] { await #expect(throws: SyncRunError.self) { try await machine.sync() } }
      #expect(one.vault.files["good"] == nil && two.vault.files.count == 1)
    }
  }

  @Test("a remote with more records of members than one call of the vault takes is refused for a machine that joins")
  func manyRecords() async throws {
    try await withTwo { folder, _, two in
      let large = try await blob(String(repeating: "x", count: 1_000_000), in: folder)
      let joining = SyncRun(two.repository, two.vault)
      func fill(_ count: Int) async throws {
        let lines = (1...count).map { "100644 blob \(large)\t0000000\($0)\n" }
        let tree = try await git("mktree", in: "\(folder)/remote", input: lines.joined())
        try await plant(["040000 tree \(tree)\tcircle"], over: folder)
      }
      try await fill(8)
      #expect(try await onOwnThread { try await joining.records() }.records.count == 8)
      try await fill(9)
      await #expect(throws: SyncRunError.tooMuch("it has records of too many members")) {
        _ = try await onOwnThread { try await joining.records() }
      }
    }
  }

  @Test("a remote with more than 200,000 files is refused")
  func hugeTree() async throws {
    try await withTwo { folder, one, _ in
      let text = try await blob("x", in: folder)
      let lines = (0..<1_000).map { "100644 blob \(text)\tf\($0)" }
      let tree = try await git(
        "mktree", in: "\(folder)/remote", input: lines.map { $0 + "\n" }.joined())
      try await plant((0..<210).map { "040000 tree \(tree)\td\($0)" }, over: folder)
      await #expect {
        try await one.sync()
      } throws: { error in
        if case SyncRunError.tooMuch = error { true } else { false }
      }
    }
  }

  @Test(
    "a remote of some KiB whose folders contain one another many times is refused, before git needs memory for it",
    .timeLimit(.minutes(2)), arguments: ["100644 blob", "empty"])
  func repeatedTrees(leaf: String) async throws {
    try await withTwo { folder, one, two in
      let text = try await blob("x", in: folder)
      var entry = "100644 blob \(text)"
      if leaf == "empty" { entry = "040000 tree \(try await git("mktree", in: "\(folder)/remote", input: ""))" }
      // 100 million files, or folders without files. Their names could not be those of a circle's files.
      for _ in 1...4 {
        let lines = (0..<100).map { "\(entry)\tUpper\($0)\n" }
        entry = "040000 tree \(try await git("mktree", in: "\(folder)/remote", input: lines.joined()))"
      }
      try await plant(["\(entry)\tUpper"], over: folder)
      for machine in [one, two] {
        await #expect { try await machine.sync() } throws: { error in
          if case SyncRunError.tooMuch = error { true } else { false }
        }
      }
      #expect(two.vault.files.count == 1)
    }
  }

  @Test("a remote that holds another kind of repository is refused, and nothing is written to the remote")
  func foreign() async throws {
    try await withRemote { folder in
      let readme = try await blob("# A project\n", in: folder)
      let tree = try await git("mktree", in: "\(folder)/remote", input: "100644 blob \(readme)\tREADME.md\n")
      let commit = try await git("commit-tree", tree, "-m", "first", in: "\(folder)/remote")
      for branch in ["refs/heads/main", "refs/heads/master"] {
        try await git("update-ref", branch, commit, in: "\(folder)/remote")
        let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
        await #expect(throws: SyncRunError.foreign) { try await one.sync(puttingBack: true) }
        await #expect(throws: SyncRunError.foreign) { try await one.sync(isDry: true) }
        let beginning = SyncRun(one.repository, one.vault)
        await #expect(throws: SyncRunError.foreign) { _ = try await onOwnThread { try await beginning.records() } }
        await #expect(throws: SyncRunError.foreign) { _ = try await onOwnThread { try await beginning.requireEmpty() } }
        #expect(try await git("rev-parse", branch, in: "\(folder)/remote") == commit)
        try await git("update-ref", "-d", branch, in: "\(folder)/remote")
      }
    }
  }

  @Test("a remote that becomes another kind of repository is refused in later sync runs, too")
  func swapped() async throws {
    try await withTwo { folder, one, _ in
      let readme = try await blob("# A project\n", in: folder)
      try await plant(["100644 blob \(readme)\tREADME.md"], over: folder, replacing: true, keeping: false)
      let commit = try await git("rev-parse", "main", in: "\(folder)/remote")
      await #expect(throws: SyncRunError.foreign) { try await one.sync(puttingBack: true) }
      #expect(try await git("rev-parse", "main", in: "\(folder)/remote") == commit)
      #expect(one.vault.files.count == 3)
    }
  }

  @Test(
    "a remote of a newer sync format is refused as newer, and one of the first format as older",
    arguments: [("whorl-sync 3", SyncRunError.newerFormat), (SyncFile.earlierFormatLine, .olderFormat)])
  func otherFormat(line: String, error: SyncRunError) async throws {
    try await withTwo { folder, one, _ in
      let format = try await blob("\(line)\n", in: folder)
      try await plant(["100644 blob \(format)\tformat"], over: folder)
      await #expect(throws: error) { try await one.sync() }
    }
  }

  @Test("a sync run does not run hooks in the private repository")
  func hooks() async throws {
    try await withTwo { folder, one, _ in
      mkdir("\(one.place)/repository/hooks", 0o755)
      for name in ["pre-push", "reference-transaction", "post-update", "pre-auto-gc", "update", "post-checkout"] {
        let hook = "\(one.place)/repository/hooks/\(name)"
        try writeFile(hook, Array("#!/bin/sh\ntouch '\(folder)/ran'\n".utf8))
        chmod(hook, 0o755)
      }
      one.vault.set("items/y", "2")
      #expect(try await one.sync().published == 1)
      #expect(access("\(folder)/ran", F_OK) != 0)
    }
  }

  @Test("a remote's address is refused if git could take it for an option or a program")
  func names() throws {
    for text in [
      "", "-oProxyCommand=x", "--upload-pack=x", "ext::sh -c x", "ext::sh", "fd::3", "http://example.com/x",
      "git://example.com/x", "ftp://example.com/x", "ssh://-oProxyCommand=x/y", "ssh://a@-b/c", "-x:y", "a@-b:c",
      "https://user:password@example.com/x", "https://example.com/two words", "two words:x", "a\nb", "host:",
      "file://host/x", "file:///x%0", "file:///x%00y", "file:///x%7fy", "file:///%ff", ":x", "me@:x",
    ] {
      #expect(throws: SyncRunError.self, "\(text)") { try SyncRemote(text, in: "/home/me") }
    }
    for (text, url) in [
      ("ssh://git@example.com/x.git", "ssh://git@example.com/x.git"),
      ("git@example.com:x.git", "git@example.com:x.git"),
      ("https://example.com/x", "https://example.com/x"), ("/media/stick/x", "/media/stick/x"), ("x", "/home/me/x"),
      ("../x", "/home/me/../x"), ("/media/my stick/x", "/media/my stick/x"), ("two words", "/home/me/two words"),
      ("host:two words", "host:two words"), ("file:///x", "file:///x"),
      ("https://me@example.com/x", "https://me@example.com/x"),
    ] {
      #expect(try SyncRemote(text, in: "/home/me").url == url)
    }
  }
}
