import FoundationEssentials
import Glibc
import ProgramDriver
import Testing

private struct Standing: Decodable {
  struct Machine: Decodable { var name: String }
  struct Kept: Decodable { var name: String, writer: String }
  struct Waiting: Decodable { var name: String, reason: String }

  var standing: String
  var machines: [Machine]
  var asking: [Machine]
  var items: Int
  var pending: Int
  var lost: Int
  var kept: [Kept]
  var waiting: [Waiting]
}

@Suite("whorl sync")
struct SyncTests {
  private func status(_ store: TestStore) async throws -> Standing {
    let result = try await store.whorl("sync", "--json")
    try result.mustSucceed()
    return try result.json(Standing.self)
  }

  @Test("a shared secret that is stored on one machine is read on the other, under the same rule")
  func twoMachines() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      #expect(try await status(one).machines.map(\.name).sorted() == ["one", "two"])
      try await one.set("shared", "s", "--access", "none", "--sync")
      try await one.set("mine", "m", "--access", "none")
      try await one.set("mail/alice", "p")
      try await one.unlocked("sync", "add", "mail/alice").mustSucceed()
      try await one.whorl("sync", "now").mustSucceed()
      let taken = try await two.whorl("sync", "now")
      #expect(taken.status == 0 && taken.diagnostics.contains("2 items received"), "\(taken.diagnostics)")
      #expect(try await two.whorl("get", "shared", "--no-prompt").text == "s")
      #expect(try await two.whorl("get", "mine", "--no-prompt").status == 66)
      #expect(try await two.whorl("get", "mail/alice", "--no-prompt").status == 77)
      #expect(try await two.unlocked("get", "mail/alice").text == "p")
      #expect(try await two.whorl("ls").text.contains("mail/alice\tgeneric-password"))
      // Nothing of it is in clear in the repository.
      let names = try await Invocation(
        program: "/usr/bin/git", arguments: ["-C", machines.remote, "ls-tree", "-r", "--name-only", "main"]
      ).run().text
      #expect(!names.contains("alice") && !names.contains("shared") && names.contains("format"))
    }
  }

  @Test("git and age alone decrypt every sync record with the recovery key's identity, by the documented commands")
  func withoutWhorl() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await one.set("mail/alice", "gold", "--access", "none", "--sync")
      try await one.set("bank/alice", "silver", "--access", "passcode", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      let clone = "\(machines.folder)/clone"
      try await Invocation(
        program: "/usr/bin/git", arguments: ["clone", "--quiet", "--branch", "main", machines.remote, clone]
      ).run().mustSucceed()
      let identity = try await two.whorl(
        "sync", "identity", clone, "--recovery-fd", "3", descriptors: [two.recoveryKey + "\n"])
      try identity.mustSucceed()
      #expect(identity.text.hasPrefix("AGE-SECRET-KEY-1"))
      try identity.text.write(toFile: "\(machines.folder)/identity", atomically: true, encoding: .utf8)
      // The commands of the document, but for those that make the clone.
      let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
      let document = try String(contentsOfFile: "\(root)/docs/sync-format.md", encoding: .utf8)
      let commands = document.split(separator: "\n").filter {
        $0.hasPrefix("    ") && ($0.contains("age --decrypt") || $0.contains("| open |"))
      }
      #expect(commands.count == 4)
      let script = """
        cd \(clone); \(commands[0])
        for RECORD in $(find items -type f); do echo; \(commands[1]); echo; done
        \(commands[2])
        for RECORD in $(find items -type f); do echo; \(commands[3]); echo; done
        """
      let opened = try await Invocation(program: "/bin/sh", arguments: ["-c", script]).run()
      #expect(opened.text.contains(#""text":"alice""#) && opened.text.contains("\ngold\n"), "\(opened.diagnostics)")
      #expect(opened.text.contains("\nsilver\n"), "\(opened.diagnostics)")
      let wrong = try await two.whorl(
        "sync", "identity", clone, "--recovery-fd", "3", descriptors: [String(repeating: "0", count: 35) + "\n"])
      #expect(wrong.status == 77 && wrong.text.isEmpty)

      // A record that cannot be opened is not the end of the records.
      let record = "\(clone)/circle/00000002"
      try #require(unlink(record) == 0 && symlink(record, record) == 0)
      let unreadable = try await two.whorl(
        "sync", "identity", clone, "--recovery-fd", "3", descriptors: [two.recoveryKey + "\n"])
      #expect(unreadable.status == 74 && unreadable.text.isEmpty, "\(unreadable.diagnostics)")
    }
  }

  @Test("a shared item that is removed, replaced or no longer shared changes on the other machine, too")
  func changes() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      for name in ["a", "b", "c"] { try await one.set(name, name, "--access", "none", "--sync") }
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      try await two.whorl("rm", "a", "--yes").mustSucceed()
      try await two.set("b", "new", "--access", "none", "--replace")
      try await two.whorl("sync", "leave", "c").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      try await one.whorl("sync", "now").mustSucceed()
      #expect(try await one.whorl("get", "a").status == 66)
      #expect(try await one.whorl("get", "b").text == "new")
      #expect(try await one.whorl("get", "c").status == 66)
      #expect(try await two.whorl("get", "c").text == "c")
      #expect(try await two.whorl("ls", "b").text.split(separator: "\n").count == 1)
    }
  }

  @Test("machines that change an item at once sync to one version, and keep the other until it is resolved")
  func conflict() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.conflict()
      let current = try await one.whorl("get", "x").text
      #expect(try await two.whorl("get", "x").text == current)
      let kept = try await status(two).kept
      #expect(kept.map(\.name) == ["x"])
      let other = current == "of one" ? "of two" : "of one"
      try await two.whorl("sync", "resolve", "x", "--use").mustSucceed()
      try await one.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("get", "x").text == other)
      #expect(try await one.whorl("get", "x").text == other)
    }
  }

  @Test("a machine removed from a sync circle gets nothing new, and the items that it has seen are listed by name")
  func removal() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await one.set("old", "1", "--access", "none", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      let removed = try await one.unlocked("sync", "remove", "two", "--yes")
      #expect(removed.status == 0 && removed.diagnostics.contains("\n  old\n"), "\(removed.diagnostics)")
      try await one.set("new", "2", "--access", "none", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      _ = try await two.whorl("sync", "now")
      let refused = try await two.whorl("sync", "now")
      #expect(
        refused.status == 77 && refused.failure.contains("another of your computers has removed this one"),
        "\(refused.diagnostics)")
      #expect(try await two.whorl("get", "new").status == 66)
      #expect(try await two.whorl("get", "old").text == "1")
      #expect(try await status(two).standing == "removed")
      #expect(try await status(one).machines.map(\.name) == ["one"])
    }
  }

  @Test("a machine notices a remote that was reset to an earlier state, and sync now --put-back repairs it")
  func putBack() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await machines.copy(machines.remote, to: "\(machines.folder)/earlier")
      try await one.set("x", "1", "--access", "none", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      removeFolder(machines.remote)
      #expect(rename("\(machines.folder)/earlier", machines.remote) == 0)
      for machine in [one, two] {
        let refused = try await machine.whorl("sync", "now")
        #expect(
          refused.status == 65 && refused.failure.contains("has lost records that this machine has seen"),
          "\(refused.diagnostics)")
      }
      for machine in [two, one] { try await machine.whorl("sync", "now", "--put-back").mustSucceed() }
      for machine in [two, one] { try await machine.whorl("sync", "now").mustSucceed() }
      #expect(try await two.whorl("get", "x").text == "1")
      #expect(try await status(one).lost == 0)
    }
  }

  @Test("changes stay on this machine while the remote of whorl sync is unreachable, with status 69")
  func offline() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      #expect(rename(machines.remote, "\(machines.folder)/away") == 0)
      try await one.set("x", "1", "--access", "none", "--sync")
      let refused = try await one.whorl("sync", "now")
      #expect(refused.status == 69, "\(refused.diagnostics)")
      #expect(refused.failure.contains("cannot be reached; ") && refused.failure.contains(" here: "))
      #expect(try await status(one).pending > 0)
      #expect(rename("\(machines.folder)/away", machines.remote) == 0)
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("get", "x").text == "1")
    }
  }

  @Test("whorl sync recover gives a new machine a circle whose machines are all lost, with the recovery key")
  func recovery() async throws {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.pair()
      try await one.set("x", "1", "--access", "none", "--sync")
      try await one.set("y", "2", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      let new = try await machines.machine("new")
      let back = try await Invocation(
        arguments: new.arguments([
          "sync", "recover", machines.remote, "--name", "new", "--passcode-fd", "3", "--lost-key-fd", "4",
        ]), descriptors: [TestStore.passcode + "\n", one.recoveryKey + "\n"]
      ).run()
      #expect(back.status == 0 && back.diagnostics.contains("2 items came back"), "\(back.diagnostics)")
      #expect(try await new.whorl("get", "x").text == "1")
      #expect(try await new.unlocked("get", "y").text == "2")
      #expect(try await status(new).machines.map(\.name) == ["new"])
      #expect(try await one.whorl("sync", "now").status != 0)
    }
  }

  @Test("an item that was stored with --sync before its machine shared is not shared, and whorl sync add shares it")
  func markedBefore() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = (try await machines.machine("one"), try await machines.machine("two"))
      try await one.unlocked("sync", "init", machines.remote, "--name", "one").mustSucceed()
      try await two.set("bank", "gold", "--access", "passcode", "--sync")
      try await machines.join(two, as: "two", by: one)
      for machine in [two, one] { try await machine.whorl("sync", "now").mustSucceed() }
      #expect(try await !one.whorl("sync").text.contains("bank"))
      let added = try await two.unlocked("sync", "add", "bank")
      #expect(added.status == 0 && added.diagnostics.contains("1 item is shared now"), "\(added.diagnostics)")
      try await one.whorl("sync", "now").mustSucceed()
      #expect(try await one.whorl("sync").text.contains("Waiting for your passcode on this computer: “bank”"))
      // Nothing is shared twice.
      #expect(try await two.whorl("sync", "add", "bank").diagnostics.contains("0 items are shared now"))
    }
  }

  @Test("whorl sync approve refuses a machine that shows other words")
  func otherWords() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = (try await machines.machine("one"), try await machines.machine("two"))
      try await one.unlocked("sync", "init", machines.remote, "--name", "one").mustSucceed()
      let joining = try machines.asking(two, as: "two")
      var unasked = try await one.unlocked("sync", "approve")
      while unasked.status == 66 { unasked = try await one.unlocked("sync", "approve") }
      #expect(unasked.status == 77 && unasked.failure.contains("nobody can be asked"), "\(unasked.diagnostics)")
      let refused = try await one.unlocked("sync", "approve", "--words", "one two three four five six")
      #expect(refused.status == 77 && refused.failure.contains("has other words"), "\(refused.diagnostics)")
      joining.signal(SIGINT)
      _ = await machines.ended(joining)
      #expect(try await status(one).machines.map(\.name) == ["one"])
      #expect(try await status(two).standing == "asking")
    }
  }

  @Test("a machine that leaves its sync circle keeps its items, and can join again")
  func leaving() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await one.set("x", "1", "--access", "none", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      try await two.unlocked("sync", "leave", "--this-computer", "--yes").mustSucceed()
      #expect(try await two.whorl("get", "x").text == "1")
      #expect(try await two.whorl("sync", "now").status == 66)
      #expect(try await two.whorl("sync").text.contains("shares with no other computer"))
      try await one.whorl("sync", "now").mustSucceed()
      #expect(try await status(one).machines.map(\.name) == ["one"])
      try await machines.join(two, as: "again", by: one)
      #expect(try await status(one).machines.map(\.name).sorted() == ["again", "one"])
    }
  }

  @Test("the help of whorl sync and of its commands needs no word of Whorl's own for the computers that share")
  func help() async throws {
    let all = try await Invocation(arguments: ["sync", "--help"]).run().text
    let commands = all.split(separator: "SUBCOMMANDS:").last?.split(separator: "\n").compactMap { line in
      line.hasPrefix("  ") && !line.hasPrefix("   ") ? line.split(separator: " ").first.map(String.init) : nil
    }
    try #require((commands ?? []).contains("leave"), "\(all)")
    for words in [[]] + (commands ?? []).map({ [$0] }) {
      let help = try await Invocation(arguments: ["sync"] + words + ["--help"]).run().text
      #expect(help.contains("USAGE") && !help.lowercased().contains("circle"), "\(words): \(help)")
    }
  }

  @Test("whorl sync refuses in one line an unusable remote, and a command for another state of the circle")
  func refusals() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      let none = try await one.whorl("sync")
      #expect(none.status == 0 && none.text.contains("shares with no other computer"), "\(none.diagnostics)")
      #expect(try await one.whorl("sync", "now").status == 66)
      for (words, status, what) in [
        (["init", "ext::sh -c true"], 64, "the remote cannot be used"),
        (["init", "http://example.com/x"], 64, "not an ssh or https address"),
        (["join", machines.remote], 66, "is empty"),
        (["init", "\(machines.folder)/nowhere"], 69, "cannot be reached"),
        (["approve"], 66, "no remote is known"),
      ] as [([String], Int32, String)] {
        let refused = try await Invocation(
          arguments: one.arguments(["sync"] + words + ["--passcode-fd", "3"]), descriptors: [TestStore.passcode + "\n"]
        ).run()
        #expect(refused.status == status && refused.failure.contains(what), "\(words): \(refused.diagnostics)")
        #expect(refused.diagnostics.split(separator: "\n").count == 1, "\(words): \(refused.diagnostics)")
      }
      try await one.unlocked("sync", "init", machines.remote).mustSucceed()
      let twice = try await one.unlocked("sync", "init", machines.remote)
      #expect(twice.status == 73, "\(twice.diagnostics)")
      let two = try await machines.machine("two")
      let taken = try await two.unlocked("sync", "init", machines.remote)
      #expect(taken.status == 73 && taken.failure.contains("already"), "\(taken.diagnostics)")
      for refused in [twice, taken] {
        #expect(refused.diagnostics.split(separator: "\n").count == 1, "\(refused.diagnostics)")
      }
    }
  }

  @Test("sync init enables the user units with the options of the store, and leaving the circle disables them")
  func units() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      let services = try UserServicesStandIn(in: one.folder)
      let command = ["[Service]", "ExecStart=/usr/bin/whorl sync"]
      try services.install("whorl-sync.service", command)
      try services.install("whorl-sync-now.service", command)
      try services.install("whorl-sync.timer", ["[Timer]"])
      func run(_ words: String...) async throws -> Invocation.Result {
        try await Invocation(
          arguments: one.arguments(["sync"] + words + ["--passcode-fd", "3"]), descriptors: [TestStore.passcode + "\n"],
          environment: services.environment()
        ).run()
      }
      try await run("init", machines.remote).mustSucceed()
      #expect(
        services.calls == [
          "--user daemon-reload", "--user enable --now whorl-sync.timer",
        ])
      let options = "\(services.folder)/config/systemd/user/whorl-sync-now.service.d/whorl-options.conf"
      let text = String(decoding: try readFile(options), as: UTF8.self)
      #expect(text.contains("ExecStart=/usr/bin/whorl sync --store \"\(one.directory)\"\n"), "\(text)")
      #expect(try await run("status", "--json").text.contains(#""automatic":true"#))
      try await run("leave", "--this-computer", "--yes").mustSucceed()
      #expect(services.calls.contains("--user disable --now whorl-sync.timer whorl-sync.service"))
      #expect(access(options, F_OK) != 0)
    }
  }
}
