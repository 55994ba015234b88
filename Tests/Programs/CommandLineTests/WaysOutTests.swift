import Glibc
import ProgramDriver
import Testing

/// Every command that takes something back, and everything that a person may answer to it.
@Suite("The ways out of Whorl, and the only copy of a password")
struct WaysOutTests {
  enum Way: String, CaseIterable {
    case undo, disable, importRemovesOld, leaveCircle, leaveItem, purge, adminRemove, removeOldStore

    /// Whether it deletes what exists nowhere else, for who types the word. The others never do.
    var takesTheWord: Bool {
      switch self {
      case .undo, .leaveCircle, .leaveItem, .adminRemove, .removeOldStore: true
      case .disable, .importRemovesOld, .purge: false
      }
    }

    /// Whether it can be tried here.
    var isPossible: Bool {
      switch self {
      case .adminRemove, .removeOldStore: MachineService.isPossible
      default: true
      }
    }
  }

  // 'whorl login disable' is in WalletsTests, with a real keyring.
  @Test(
    "no way out deletes the only copy of a password unless the word is typed, and each names it",
    arguments: Way.allCases, AnswerToLoss.allCases)
  func keeps(_ way: Way, _ answer: AnswerToLoss) async throws {
    guard way.isPossible else { return }
    let isThere =
      switch way {
      case .undo: try await undo(answer)
      case .disable: try await disable(answer)
      case .importRemovesOld: try await importRemovesOld(answer)
      case .leaveCircle: try await leaveCircle(answer)
      case .leaveItem: try await leaveItem(answer)
      case .purge: try await purge(answer)
      case .adminRemove: try await adminRemove(answer)
      case .removeOldStore: try await removeOldStore(answer)
      }
    #expect(isThere == !(way.takesTheWord && answer == .theWord))
  }

  @Test("nobody can agree for a person to lose the only copy of a password")
  func unasked() async throws {
    let input = Array("y\ndelete\n".utf8)
    try await TestStore.with { store in
      let home = ["HOME": store.folder, "XDG_RUNTIME_DIR": store.folder]
      try await store.set("bank/alice", "only", "--access", "none")
      for words in [["setup", "--undo", "--yes"], ["setup", "--undo"]] {
        _ = try await Invocation(arguments: store.arguments(words), input: input, environment: home).run()
        #expect(try await store.whorl("get", "bank/alice").text == "only")
      }
      guard MachineService.isPossible else { return }
      try await MachineService.with { machine in
        let migration = ["migrate", "--remove-old", "--from", store.directory]
        for words in [migration, migration + ["--yes"]] {
          let refused = try await machine.whorl(words, input: input)
          #expect(refused.status == 77 && refused.diagnostics.contains("bank/alice"), "\(refused.diagnostics)")
          #expect(try await store.whorl("get", "bank/alice").text == "only")
        }
        try await machine.whorl(["set", "bank/alice", "--access", "none"], input: Array("only".utf8)).mustSucceed()
        for words in [["admin", "remove", "root"], ["admin", "remove", "root", "--yes"]] {
          let refused = try await machine.whorl(words, input: input)
          #expect(refused.status == 77 && refused.diagnostics.contains("bank/alice"), "\(refused.diagnostics)")
          #expect(try await machine.whorl(["get", "bank/alice"]).text == "only")
        }
      }
    }
  }

  /// Answers the questions of a command, which shows what exists nowhere else before the first of them.
  private func walk(
    _ terminal: PseudoTerminal, _ answer: AnswerToLoss, naming name: String
  ) async throws {
    _ = try await terminal.walks { answer.answers($0) }
    #expect(terminal.shown.contains(name), "\(terminal.shown)")
  }

  private func undo(_ answer: AnswerToLoss) async throws -> Bool {
    try await TestStore.with { store in
      let home = ["HOME": store.folder, "XDG_RUNTIME_DIR": store.folder]
      try await store.set("bank/alice", "only", "--access", "none")
      let terminal = try PseudoTerminal(store.arguments(["setup", "--undo"]), environment: home)
      try await walk(terminal, answer, naming: "nowhere else that Whorl knows of:\r\n  bank/alice\r\n")
      return try await store.whorl("get", "bank/alice").text == "only"
    }
  }

  private static func item(_ label: String, _ secret: String) -> SecretServiceStandIn.Item {
    SecretServiceStandIn.Item(label: label, attributes: ["name": label], secret: Array(secret.utf8))
  }

  /// Runs commands with another program that has these items.
  private func with<Value>(
    _ store: TestStore, _ changes: SecretServiceStandIn.Changes, _ items: [SecretServiceStandIn.Item],
    _ body: ([String: String], SecretServiceStandIn) async throws -> Value
  ) async throws -> Value {
    try await PrivateBus.with { bus in
      let other = try await SecretServiceStandIn(
        on: bus, aliases: ["default": "/collection"], changes: changes, items)
      defer { other.close() }
      return try await body(["DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": store.folder], other)
    }
  }

  private func importOnce(_ store: TestStore, _ item: SecretServiceStandIn.Item) async throws {
    try await with(store, .made, [item]) { environment, _ in
      try await store.whorl("secret-service", "import", environment: environment).mustSucceed()
    }
  }

  private func disable(_ answer: AnswerToLoss) async throws -> Bool {
    try await TestStore.with { store in
      try await importOnce(store, Self.item("Mail", "only"))
      for changes in [SecretServiceStandIn.Changes.refused, .spoiled, .ending(after: 0)] {
        try await with(store, changes, []) { environment, _ in
          let terminal = try PseudoTerminal(store.arguments(["secret-service", "disable"]), environment: environment)
          try await walk(terminal, answer, naming: "Mail")
          #expect(try await terminal.status() == 79, "\(terminal.shown)")
        }
        let id = try #require(try await store.whorl("ls", "Mail").text.split(separator: "\t").last)
        guard try await store.whorl("get", String(id.dropLast())).text == "only" else { return false }
      }
      return true
    }
  }

  private func importRemovesOld(_ answer: AnswerToLoss) async throws -> Bool {
    try await TestStore.with { store in
      try await importOnce(store, Self.item("Mail", "first"))
      return try await with(store, .made, [Self.item("Mail", "only there")]) { environment, other in
        let words = ["secret-service", "import", "--remove-old"]
        for words in answer == .theWord ? [words, words + ["--yes"]] : [words] {
          let terminal = try PseudoTerminal(store.arguments(words), environment: environment)
          try await walk(terminal, answer, naming: "Mail")
        }
        return other.items.compactMap(\.self).map(\.secret) == [Array("only there".utf8)]
      }
    }
  }

  private func has(_ store: TestStore, versions: Set<String>) async throws -> Bool {
    let current = try await store.whorl("get", "x").text
    guard try await store.whorl("sync", "resolve", "x", "--use").status == 0 else { return false }
    return [current, try await store.whorl("get", "x").text] as Set == versions
  }

  private func leaveCircle(_ answer: AnswerToLoss) async throws -> Bool {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.conflict()
      // While another machine has both versions, this one may leave.
      try await one.unlocked("sync", "remove", "two", "--yes").mustSucceed()
      let terminal = try PseudoTerminal(
        one.arguments(["sync", "leave", "--this-computer"]), environment: ["HOME": one.folder])
      try await walk(terminal, answer, naming: "  x: another version, written on “")
      return try await has(one, versions: ["of one", "of two"])
    }
  }

  private func leaveItem(_ answer: AnswerToLoss) async throws -> Bool {
    try await SyncMachines.with { machines in
      let (one, _) = try await machines.conflict()
      let terminal = try PseudoTerminal(one.arguments(["sync", "leave", "x"]), environment: ["HOME": one.folder])
      try await walk(terminal, answer, naming: "  x: another version, written on “")
      return try await has(one, versions: ["of one", "of two"])
    }
  }

  private func adminRemove(_ answer: AnswerToLoss) async throws -> Bool {
    try await MachineService.with { machine in
      try await machine.whorl(["set", "bank/alice", "--access", "none"], input: Array("only".utf8)).mustSucceed()
      try await walk(
        try machine.terminal(["admin", "remove", "root"]), answer,
        naming: "nowhere else that Whorl knows of:\r\n  bank/alice\r\n")
      return try await machine.whorl(["get", "bank/alice"]).text == "only"
    }
  }

  private func removeOldStore(_ answer: AnswerToLoss) async throws -> Bool {
    try await MachineService.with { machine in
      try await TestStore.with { store in
        try await store.set("bank/alice", "only", "--access", "none")
        try await walk(
          try machine.terminal(["migrate", "--remove-old", "--from", store.directory]), answer,
          naming: "nowhere else that Whorl knows of:\r\n  bank/alice")
        return try await store.whorl("get", "bank/alice").text == "only"
      }
    }
  }

  /// Runs the package's script for its purge, with a folder in place of the service's.
  private func purge(_ answer: AnswerToLoss) async throws -> Bool {
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
      let terminal = try PseudoTerminal(
        ["\(folder)/postrm", "purge"], program: "/bin/sh", environment: ["PATH": "\(folder)/bin:/usr/bin:/bin"])
      try await walk(terminal, answer, naming: "whorl:   alice (\(folder)/stores/1000-alice)\r\n")
      #expect(try await terminal.status() == 0)
      #expect(!terminal.shown.contains("rm -r \(folder)/stores &&"), "\(terminal.shown)")
      return try readFile("\(folder)/stores/1000-alice/vault.db") == Array("only".utf8)
    }
  }
}
