import FoundationEssentials
import Glibc
import ProgramDriver
import Testing

@Suite("The machines of whorl sync")
struct SyncCircleTests {
  private struct Status: Decodable {
    struct Machine: Decodable { var name: String }
    var standing: String
    var machines: [Machine]
    var asking: [Machine]
  }

  private struct ShownPasskey: Decodable, Equatable {
    var credentialID: String
    var userID: String
    var algorithm: String
    var access: String
  }

  private func status(_ store: TestStore) async throws -> Status {
    try await store.whorl("sync", "--json").json(Status.self)
  }

  /// A program that runs until it is ended.
  private func terminal(_ store: TestStore, _ words: [String]) throws -> PseudoTerminal {
    try PseudoTerminal(store.arguments(["sync"] + words), environment: ["HOME": store.folder, "PATH": "/usr/bin:/bin"])
  }

  /// The line with the six words that a terminal shows.
  private func words(_ terminal: PseudoTerminal) throws -> Substring {
    try #require(
      terminal.shown.split(separator: "\r\n").first { $0.split(separator: " ").count == 6 && $0.hasPrefix("  ") })
  }

  private func types(_ terminal: PseudoTerminal, passcode count: Int) async throws {
    try await terminal.waits(for: "Passcode: ", count: count, seconds: 40)
    try await terminal.becomes(echoing: false)
    terminal.type("\(TestStore.passcode)\n")
  }

  @Test("a machine joins a sync circle after both terminals have shown the same six words and have got a yes")
  func approval() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = (try await machines.machine("one"), try await machines.machine("two"))
      try await one.unlocked("sync", "init", machines.remote, "--name", "one").mustSucceed()
      try await one.set("x", "1", "--access", "none", "--sync")
      try await one.set("bank", "2", "--access", "passcode", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      let joining = try terminal(two, ["join", machines.remote, "--name", "two"])
      try await types(joining, passcode: 1)
      try await joining.waits(for: "Now run 'whorl sync approve' on one of the other computers")

      let approving = try terminal(one, ["approve"])
      try await approving.waits(for: "Does the other computer show the same words?", seconds: 40)
      #expect(approving.shown.contains("It keeps its keys in a file"))
      try await joining.waits(for: "Does the other computer show the same?", seconds: 40)
      #expect(try words(approving) == words(joining))
      joining.type("y\n")
      try await types(joining, passcode: 2)
      approving.type("y\n")
      try await types(approving, passcode: 1)
      #expect(try await approving.status(seconds: 40) == 0)
      #expect(approving.shown.contains("“two” shares your secrets now, and gets 2 items."), "\(approving.shown)")
      // What needs the passcode is opened with it.
      try await types(joining, passcode: 3)
      #expect(try await joining.status(seconds: 40) == 0)
      #expect(joining.shown.contains("This computer shares your secrets now. 2 items received."), "\(joining.shown)")
      #expect(try await two.whorl("get", "x").text == "1")
      #expect(try await two.unlocked("get", "bank").text == "2")
    }
  }

  @Test("a no to the six words on either machine lets nobody in")
  func declined() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = (try await machines.machine("one"), try await machines.machine("two"))
      try await one.unlocked("sync", "init", machines.remote, "--name", "one").mustSucceed()
      let joining = try terminal(two, ["join", machines.remote, "--name", "two"])
      try await types(joining, passcode: 1)
      try await joining.waits(for: "Now run 'whorl sync approve'")
      let approving = try terminal(one, ["approve"])
      try await joining.waits(for: "Does the other computer show the same?", seconds: 40)
      joining.type("n\n")
      #expect(try await joining.status() == 77)
      #expect(joining.shown.contains("if they differ, somebody else may be using the repository"))
      try await approving.waits(for: "Does the other computer show the same words?", seconds: 40)
      approving.type("\n")
      #expect(try await approving.status() == 77)
      #expect(approving.shown.contains("the words were not confirmed: nobody was let in"))
      #expect(try await status(one).machines.map(\.name) == ["one"])
      #expect(try await status(two).standing == "asking")
    }
  }

  @Test("a machine that another one let in is named on the third, which shares nothing until a yes and the passcode")
  func confirmed() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await machines.join(try await machines.machine("three"), as: "three", by: two)
      try await one.set("x", "1", "--access", "none", "--sync")
      let warned = try await one.whorl("sync", "now")
      #expect(warned.diagnostics.contains("“two” has let “three” in"), "\(warned.diagnostics)")
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("get", "x").status == 66)
      let confirming = try terminal(one, ["confirm"])
      try await confirming.waits(for: "Was it you?")
      confirming.type("y\n")
      try await types(confirming, passcode: 1)
      #expect(try await confirming.status() == 0)
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("get", "x").text == "1")
      #expect(try await one.unlocked("sync", "confirm").diagnostics.contains("There is nothing to confirm."))
    }
  }

  @Test("whorl sync confirm --reject stops sharing on this machine, and names the secrets to change")
  func rejected() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await one.set("x", "1", "--access", "none", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      try await machines.join(try await machines.machine("three"), as: "three", by: two)
      let rejected = try await one.unlocked("sync", "confirm", "--reject")
      #expect(rejected.status == 0 && rejected.diagnostics.contains("\n  x\n"), "\(rejected.diagnostics)")
      try await one.set("y", "2", "--access", "none", "--sync")
      _ = try await one.whorl("sync", "now")
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("get", "y").status == 66)
    }
  }

  @Test("sync add --ssh shares the keys for ssh with the other machine, and sync leave --ssh removes them there")
  func keys() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await one.whorl("ssh", "add", "work", "--access", "passcode").mustSucceed()
      try await one.unlocked("sync", "add", "--ssh").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      try await two.unlocked("sync", "resolve").mustSucceed()
      let there = try await two.whorl("ssh", "public", "work")
      let here = try await one.whorl("ssh", "public", "work")
      #expect(there.status == 0 && there.text == here.text)
      try await one.unlocked("sync", "leave", "--ssh").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("ssh", "public", "work").status == 66)
      #expect(try await one.whorl("ssh", "public", "work").status == 0)
    }
  }

  @Test("whorl sync add --passkeys shares passkeys that need a finger, and the other machine has the same ones")
  func passkeys() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      for machine in [one, two] { try await machine.enroll().mustSucceed() }
      let file = "\(machines.folder)/passkeys.json"
      try writeFile(file, Array(PasskeyMovingTests.two.utf8))
      try await one.touched(["passkey", "import", file, "--yes"], [.right]).mustSucceed()
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("passkey", "list", "--json").text == #"{"passkeys":[]}"# + "\n")
      let added = try await one.touched(["sync", "add", "--passkeys"], [.right])
      #expect(added.status == 0 && added.diagnostics.contains("2 items are shared now."), "\(added.diagnostics)")
      try await two.whorl("sync", "now").mustSucceed()
      for site in ["example.com", "example.org"] {
        let here = try await one.whorl("passkey", "show", site, "--json").json(ShownPasskey.self)
        #expect(try await two.whorl("passkey", "show", site, "--json").json(ShownPasskey.self) == here)
      }
    }
  }

  @Test("sync add --folder shares a collection's items that have a rule, also later ones, and counts the rest")
  func collection() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      func bringIn(_ labels: String..., options: [String]) async throws {
        try await PrivateBus.with { bus in
          let items = labels.map {
            SecretServiceStandIn.Item(label: $0, attributes: ["a": $0], secret: Array($0.utf8), collection: "/work")
          }
          let service = try await SecretServiceStandIn(on: bus, items)
          try await Invocation(
            arguments: one.arguments(["secret-service", "import"] + options),
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
          ).run().mustSucceed()
          service.close()
        }
      }
      func listed(_ store: TestStore) async throws -> [String] {
        try await store.whorl("secret-service", "list").text.split(separator: "\n").compactMap { line in
          ["Mail", "Open", "Later"].first { line.contains("\t\($0)\t") }
        }.sorted()
      }
      try await bringIn("Mail", options: ["--access", "passcode"])
      try await bringIn("Open", options: ["--access", "none"])
      let unknown = try await one.unlocked("sync", "add", "--folder", "nowhere")
      #expect(unknown.status == 66 && unknown.failure.contains("no collection nowhere"), "\(unknown.diagnostics)")
      let added = try await one.unlocked("sync", "add", "--folder", "work")
      #expect(added.status == 0, "\(added.diagnostics)")
      #expect(added.diagnostics.contains("Not shared: 1 item without a rule"), "\(added.diagnostics)")
      try await two.whorl("sync", "now").mustSucceed()
      try await two.unlocked("sync", "resolve").mustSucceed()
      #expect(try await listed(two) == ["Mail"])
      try await bringIn("Later", options: ["--access", "passcode"])
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      try await two.unlocked("sync", "resolve").mustSucceed()
      #expect(try await listed(two) == ["Later", "Mail"])
      try await one.unlocked("sync", "leave", "--folder", "work").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await listed(two) == [])
      #expect(try await listed(one) == ["Later", "Mail", "Open"])
    }
  }

  @Test(
    "restore into a store in a sync circle takes shared items from the circle, and the rest from the backup")
  func restoredInPlace() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      for name in ["changed", "gone"] { try await one.set(name, "before", "--access", "none", "--sync") }
      try await one.set("mine", "before", "--access", "none")
      try await one.whorl("sync", "now").mustSucceed()
      try await two.whorl("sync", "now").mustSucceed()
      let copy = "\(machines.folder)/copy"
      try await one.unlocked("backup", copy).mustSucceed()
      try await one.set("mine", "after", "--access", "none", "--replace")
      try await two.set("changed", "after", "--access", "none", "--replace")
      try await two.whorl("rm", "gone", "--yes").mustSucceed()
      try await two.set("new", "after", "--access", "none", "--sync")
      try await two.whorl("sync", "now").mustSucceed()
      try await one.whorl("sync", "now").mustSucceed()
      try await one.unlocked("restore", copy, "--yes").mustSucceed()
      func agree() async throws {
        #expect(try await one.whorl("get", "mine").text == "before")
        #expect(try await one.whorl("get", "changed").text == "after")
        #expect(try await one.whorl("get", "gone").status == 66)
        #expect(try await one.whorl("get", "new").text == "after")
      }
      try await agree()
      for machine in [one, two, one] { try await machine.whorl("sync", "now").mustSucceed() }
      try await agree()
      #expect(try await two.whorl("get", "changed").text == "after")
      #expect(try await two.whorl("get", "gone").status == 66)
      #expect(try await status(one).machines.map(\.name).sorted() == ["one", "two"])
    }
  }

  @Test("whorl sync accepts relative paths of the store and the remote")
  func relativePaths() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      func run(_ words: String...) async throws -> Invocation.Result {
        try await Invocation(
          program: "/usr/bin/env",
          arguments: ["-C", machines.folder, Programs.path("whorl")] + words
            + ["--store", "one/store", "--passcode-fd", "3"],
          descriptors: [TestStore.passcode + "\n"]
        ).run()
      }
      try await run("sync", "init", "remote", "--name", "one").mustSucceed()
      try await one.set("x", "1", "--access", "none", "--sync")
      try await run("sync", "now").mustSucceed()
      let two = try await machines.machine("two")
      let joining = try machines.asking(two, as: "two")
      while try await status(one).asking.isEmpty { try await run("sync", "now").mustSucceed() }
      joining.signal(SIGINT)
      _ = await machines.ended(joining)
    }
  }

  @Test("whorl sync watch refuses a private store, since it is not notified of other programs' changes")
  func watching() async throws {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.pair()
      let refused = try await one.whorl("sync", "watch")
      #expect(refused.status == 69 && refused.failure.contains("whorl-sync.timer"), "\(refused.diagnostics)")
    }
  }

  @Test("a new store that is restored from a backup is in no sync circle, and has its items")
  func restored() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      try await one.set("x", "1", "--access", "none", "--sync")
      try await one.whorl("sync", "now").mustSucceed()
      let copy = "\(machines.folder)/copy"
      try await one.unlocked("backup", copy).mustSucceed()
      let new = TestStore(folder: "\(machines.folder)/new", recoveryKey: one.recoveryKey)
      #expect(mkdirPrivate(new.folder))
      let restored = try await Invocation(
        arguments: new.arguments(["restore", copy, "--yes", "--recovery-fd", "3", "--passcode-fd", "4"]),
        descriptors: [one.recoveryKey + "\n", TestStore.passcode + "\n"]
      ).run()
      try restored.mustSucceed()
      #expect(try await status(new).standing == "none")
      #expect(try await new.whorl("get", "x").text == "1")
      // The machine that was copied still works.
      try await two.whorl("sync", "now").mustSucceed()
      #expect(try await status(one).machines.map(\.name).sorted() == ["one", "two"])
    }
  }

  @Test("a replaced recovery key does not recover the sync circle any more, and the new one does")
  func newRecoveryKey() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      try await one.unlocked("sync", "init", machines.remote, "--name", "one").mustSucceed()
      try await one.set("x", "1", "--access", "none", "--sync")
      let replaced = try await Invocation(
        arguments: one.arguments(["recover", "--new-key", "--passcode-fd", "3", "--new-recovery-fd", "9"]),
        descriptors: [TestStore.passcode + "\n"], readsDescriptor9: true
      ).run()
      try replaced.mustSucceed()
      try await one.whorl("sync", "now").mustSucceed()
      let new = try await machines.machine("new")
      func recover(_ key: String) async throws -> Invocation.Result {
        try await Invocation(
          arguments: new.arguments([
            "sync", "recover", machines.remote, "--name", "new", "--passcode-fd", "3", "--lost-key-fd", "4",
          ]), descriptors: [TestStore.passcode + "\n", key + "\n"]
        ).run()
      }
      #expect(try await recover(one.recoveryKey).status == 77)
      let key = try #require(replaced.descriptor9.split(separator: "\n").last.map(String.init))
      try await recover(key).mustSucceed()
      #expect(try await new.whorl("get", "x").text == "1")
    }
  }

  @Test("names of machines are completed for whorl sync, and whorl setup shows the number of machines")
  func names() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.pair()
      func completed(_ command: String, _ store: TestStore) async throws -> String {
        let words = ["whorl", "sync", command, "--store", store.directory, ""]
        return try await Invocation(
          arguments: ["---completion", "sync", command, "--", "positional@0", "5", "0"] + words
        ).run().text
      }
      #expect(try await completed("remove", one) == "two\n")
      #expect(try await completed("approve", one).split(separator: "\n") == [])
      let home = ["HOME": two.folder, "XDG_RUNTIME_DIR": two.folder]
      #expect(
        try await two.whorl("setup", environment: home).text.contains(
          "ok    sync      2 computers share what you choose\n"))
      try await two.unlocked("sync", "leave", "--this-computer", "--yes").mustSucceed()
      #expect(try await two.whorl("setup", environment: home).text.contains("      sync      not set up;"))
      let joining = try machines.asking(two, as: "again")
      while try await status(one).asking.isEmpty { try await one.whorl("sync", "now").mustSucceed() }
      let completion = try await completed("approve", one)
      #expect(completion.utf8.count == 9, "\(completion)")
      joining.signal(SIGINT)
      _ = await machines.ended(joining)
    }
  }
}
