import Glibc
import ProgramDriver
import Testing

/// Every command that removes something, run by somebody who agrees to everything but does not type the word.
@Suite("The ways out of Whorl, and the only copy of a password")
struct WaysOutTests {
  enum Way: String, CaseIterable {
    case undo, disable, importRemovesOld, leaveCircle, leaveItem, purge
  }

  @Test("no way out deletes the only copy of a password after a yes alone, and each names it", arguments: Way.allCases)
  func keeps(_ way: Way) async throws {
    switch way {
    case .undo: try await undo()
    case .disable: try await disable()
    case .importRemovesOld: try await importRemovesOld()
    case .leaveCircle: try await leaveCircle()
    case .leaveItem: try await leaveItem()
    case .purge: try await purge()
    }
  }

  private func undo() async throws {
    try await TestStore.with { store in
      let home = ["HOME": store.folder, "XDG_RUNTIME_DIR": store.folder]
      try await store.set("bank/alice", "only", "--access", "none")
      let terminal = try PseudoTerminal(store.arguments(["setup", "--undo"]), environment: home)
      try await terminal.waits(for: "Enter keeps it:")
      #expect(terminal.shown.contains("nowhere else that Whorl knows of:\r\n  bank/alice\r\n"), "\(terminal.shown)")
      terminal.type("yes\n")
      #expect(try await terminal.status() == 0)
      #expect(try await store.whorl("get", "bank/alice").text == "only")
      // Nobody can agree for a person.
      for words in [["setup", "--undo", "--yes"], ["setup", "--undo"]] {
        _ = try await Invocation(arguments: store.arguments(words), input: Array("y\ndelete\n".utf8), environment: home)
          .run()
        #expect(try await store.whorl("get", "bank/alice").text == "only")
      }
    }
  }

  private static func item(_ label: String, _ secret: String) -> SecretServiceStandIn.Item {
    SecretServiceStandIn.Item(label: label, attributes: ["name": label], secret: Array(secret.utf8))
  }

  /// Runs commands with another program that has these items.
  private func with(
    _ store: TestStore, _ changes: SecretServiceStandIn.Changes, _ items: [SecretServiceStandIn.Item],
    _ words: String...
  ) async throws -> (Invocation.Result, [SecretServiceStandIn.Item]) {
    try await PrivateBus.with { bus in
      let other = try await SecretServiceStandIn(
        on: bus, aliases: ["default": "/collection"], changes: changes, items)
      defer { other.close() }
      let result = try await Invocation(
        arguments: store.arguments(["secret-service"] + words),
        environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": store.folder]
      ).run()
      return (result, other.items.compactMap(\.self))
    }
  }

  private func disable() async throws {
    try await TestStore.with { store in
      try await with(store, .made, [Self.item("Mail", "only")], "import").0.mustSucceed()
      for changes in [SecretServiceStandIn.Changes.refused, .spoiled, .ending(after: 0)] {
        let (told, _) = try await with(store, changes, [], "disable")
        #expect(told.status == 79 && told.diagnostics.contains("Mail"), "\(told.diagnostics)")
        let id = try #require(try await store.whorl("ls", "Mail").text.split(separator: "\t").last)
        #expect(try await store.whorl("get", String(id.dropLast())).text == "only")
      }
    }
  }

  private func importRemovesOld() async throws {
    try await TestStore.with { store in
      try await with(store, .made, [Self.item("Mail", "first")], "import").0.mustSucceed()
      let (told, left) = try await with(
        store, .made, [Self.item("Mail", "only there")], "import", "--remove-old", "--yes")
      #expect(told.diagnostics.contains("  login: Mail"), "\(told.diagnostics)")
      #expect(left.map(\.secret) == [Array("only there".utf8)])
    }
  }

  private func has(_ store: TestStore, versions: Set<String>) async throws {
    let current = try await store.whorl("get", "x").text
    try await store.whorl("sync", "resolve", "x", "--use").mustSucceed()
    #expect([current, try await store.whorl("get", "x").text] as Set == versions)
  }

  private func leaveCircle() async throws {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.conflict()
      // While another machine has both versions, this one may leave.
      try await one.unlocked("sync", "remove", "two", "--yes").mustSucceed()
      let refused = try await one.unlocked("sync", "leave", "--this-computer", "--yes")
      #expect(refused.status == 77 && refused.failure.contains("that exist nowhere else (x)"), "\(refused.diagnostics)")
      #expect(refused.diagnostics.contains("  x: another version, written on “"), "\(refused.diagnostics)")
      try await has(one, versions: ["of one", "of two"])
      try await one.unlocked("sync", "leave", "--this-computer", "--yes").mustSucceed()
    }
  }

  private func leaveItem() async throws {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.conflict()
      let refused = try await one.whorl("sync", "leave", "x")
      #expect(refused.status == 77 && refused.failure.contains("that exist nowhere else (x)"), "\(refused.diagnostics)")
      try await has(one, versions: ["of one", "of two"])
    }
  }

  /// Runs the package's script for its purge, with a folder in place of the service's.
  private func purge() async throws {
    try await withFolder { folder in
      let repository = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        .joined(separator: "/")
      let script = String(decoding: try readFile("\(repository)/packaging/debian/whorl.postrm"), as: UTF8.self)
      #expect(script.contains("/var/lib/whorl") && script.contains("/etc/whorl"))
      let there = script.replacing("/var/lib/whorl", with: "\(folder)/stores").replacing(
        "/etc/", with: "\(folder)/etc/"
      )
      .replacing("#DEBHELPER#", with: "")
      try writeFile("\(folder)/postrm", Array(there.utf8))
      for each in ["stores", "stores/1000-alice", "stores/1001-bob_2eb", "bin"] {
        #expect(mkdirPrivate("\(folder)/\(each)"))
      }
      try writeFile("\(folder)/stores/1000-alice/vault.db", Array("only".utf8))
      // No user of this machine is removed.
      for program in ["getent", "userdel", "groupdel"] {
        try writeFile("\(folder)/bin/\(program)", Array("#!/bin/sh\nexit 2\n".utf8))
        chmod("\(folder)/bin/\(program)", 0o755)
      }
      let purged = try await Invocation(
        program: "/bin/sh", arguments: ["\(folder)/postrm", "purge"],
        environment: ["PATH": "\(folder)/bin:/usr/bin:/bin"]
      ).run()
      #expect(purged.status == 0, "\(purged.diagnostics)")
      #expect(try readFile("\(folder)/stores/1000-alice/vault.db") == Array("only".utf8))
      #expect(purged.text.contains("whorl:   alice (\(folder)/stores/1000-alice)\n"), "\(purged.text)")
      #expect(!purged.text.contains("rm -r \(folder)/stores &&"), "\(purged.text)")
    }
  }
}
