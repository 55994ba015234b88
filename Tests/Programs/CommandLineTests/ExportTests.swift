import Glibc
import Presence
import Primitives
import ProgramDriver
import ReaderClient
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("export, and import of the file on another machine")
struct ExportTests {
  static let passphrase = "a long passphrase"

  /// Runs a command with the passcode on descriptor 3 and the file's passphrase on descriptor 4.
  static func run(_ store: TestStore, _ words: String..., passphrase: String = passphrase) async throws
    -> Invocation.Result
  {
    try await Invocation(
      arguments: store.arguments(words + ["--passcode-fd", "3", "--passphrase-fd", "4"]),
      descriptors: [TestStore.passcode + "\n", passphrase + "\n"]
    ).run()
  }

  /// What `ls` prints of each item, without the columns that differ between stores.
  static func rows(_ store: TestStore) async throws -> [String] {
    let listed = try await store.whorl("ls", "--json")
    return listed.text.matches(of: /\{[^{}]*\}/).map { item in
      String(item.output).replacing(/"(created|modified)":\d+,?/, with: "").replacing(/"id":"[^"]*",?/, with: "")
    }.sorted()
  }

  @Test("a signal leaves no part of an unfinished export or backup", arguments: ["export", "backup"])
  func interrupted(_ command: String) async throws {
    try await TestStore.with { store in
      let megabyte = [UInt8](repeating: 7, count: 1 << 20)
      for number in 1...24 {
        try await store.whorl("set", "binary/\(number)", "--access", "none", input: megabyte).mustSucceed()
      }
      #expect(mkdir("\(store.folder)/out", 0o700) == 0)
      let words = [command, "\(store.folder)/out/all", "--passcode-fd", "3"]
      let program = try Invocation(
        arguments: store.arguments(command == "export" ? words + ["--passphrase-fd", "4"] : words),
        descriptors: [TestStore.passcode + "\n", Self.passphrase + "\n"]
      ).start()
      for _ in 0..<20_000 {
        if try !folderEntries("\(store.folder)/out").isEmpty { break }
        usleep(500)
      }
      program.signal(SIGTERM)
      let result = program.finish { _, _ in }
      #expect(result.status == 128 + SIGTERM, "\(result.diagnostics)")
      // The signal may have arrived after the command had finished.
      #expect(try folderEntries("\(store.folder)/out").filter { $0 != "all" } == [])
    }
  }

  @Test("export and import bring secrets, attributes, rules and classes to another store, and nothing twice")
  func wholeStore() async throws {
    try await TestStore.with { store in
      let binary = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 11) }
      try await store.set("empty", "", "--access", "none")
      try await store.set(
        "mail/alice", "of mail\n{\"end\":3}\n", "--access", "passcode", "--accessible", "passcode-set")
      try await store.set("forge", "of forge", "--access", "presence", "--accessible", "after-first-unlock")
      try await store.whorl("set", "binary", "--access", "none", input: binary).mustSucceed()
      try await addOthers(to: store)
      let file = "\(store.folder)/all.age"
      let exported = try await Self.run(store, "export", file)
      #expect(exported.status == 0, "\(exported.diagnostics)")
      #expect(exported.diagnostics.contains("Exported 6 items to \(file)."), "\(exported.diagnostics)")
      var status = stat()
      #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)

      try await TestStore.with { other in
        let dry = try await Self.run(other, "import", file, "--dry-run")
        #expect(dry.status == 0 && dry.diagnostics.contains("Would bring in 6 entries:"), "\(dry.diagnostics)")
        #expect(try await other.whorl("ls").text.isEmpty)
        let refused = try await Self.run(other, "import", file)
        #expect(refused.status == 77 && refused.failure.contains("this has to be confirmed"), "\(refused.failure)")
        let imported = try await Self.run(other, "import", file, "--yes", "--json")
        #expect(imported.status == 0, "\(imported.diagnostics)")
        #expect(try await Self.rows(other) == Self.rows(store))
        #expect(try await other.whorl("get", "binary").output == binary)
        #expect(try await other.whorl("get", "empty").output.isEmpty)
        #expect(try await other.whorl("get", "mail/alice").status == 77)
        #expect(try await other.unlocked("get", "mail/alice").text == "of mail\n{\"end\":3}\n")
        #expect(try await other.unlocked("get", "forge").text == "of forge")
        #expect(try await other.whorl("get", "example.com/alice").text == "web")
        #expect(try await other.whorl("get", "signing", "--class", "key").text == "key")
        let again = try await Self.run(other, "import", file, "--json")
        #expect(again.status == 0, "\(again.diagnostics)")
        #expect(again.text.contains(#""brought":[],"#), "\(again.text)")
        #expect(try await Self.rows(other) == Self.rows(store))
      }
    }
  }

  /// Items of other programs, with attributes of every kind.
  private func addOthers(to store: TestStore) async throws {
    let vault = try Vault(
      at: store.directory,
      desk: ReaderDesk(ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic)))
    let web: [AttributeName: AttributeValue] = [
      .server: .text("example.com"), .account: .text("alice"), .port: .number(8443), .accessGroup: .text("browser"),
      .creator: .bytes([0, 1, 255]), .startDate: .date(-0.125), AttributeName(rawValue: "own.ä"): .text("\u{0}\n\"é"),
    ]
    _ = try await vault.add(
      NewItem(.internetPassword, web), secret: SecretBytes(copying: Array("web".utf8).span), in: nil)
    let key: [AttributeName: AttributeValue] = [.label: .text("signing"), .accessGroup: .text("notes")]
    _ = try await vault.add(NewItem(.key, key), secret: SecretBytes(copying: Array("key".utf8).span), in: nil)
    await vault.close()
  }

  @Test("whorl import of an exported file does not change an existing item of the same name")
  func kept() async throws {
    try await TestStore.with { store in
      try await store.set("a", "exported", "--access", "none")
      try await store.set("b", "exported", "--access", "none")
      let file = "\(store.folder)/all.age"
      try await Self.run(store, "export", file).mustSucceed()
      try await store.set("a", "newer", "--access", "none", "--replace")
      try await store.whorl("rm", "b").mustSucceed()
      let imported = try await Self.run(store, "import", file, "--yes", "--json")
      #expect(imported.text.contains(#"{"alreadyThere":["a"],"brought":["b"],"#), "\(imported.text)")
      #expect(try await store.whorl("get", "a", "b").text == "newer\nexported")
    }
  }

  @Test("whorl export takes only the named items, and refuses an unknown name before any prompt or output")
  func named() async throws {
    try await TestStore.with { store in
      for name in ["a", "b", "c/d"] { try await store.set(name, "of \(name)", "--access", "none") }
      let file = "\(store.folder)/some.age"
      let refused = try await store.whorl("export", file, "a", "x")
      #expect(refused.status == 66 && refused.failure.contains("no item x"), "\(refused.diagnostics)")
      let exported = try await Self.run(store, "export", file, "a", "c/d", "--json")
      #expect(exported.text == #"{"exported":2,"file":"\#(file)","staying":[]}"# + "\n")
      try await TestStore.with { other in
        try await Self.run(other, "import", file, "--yes").mustSucceed()
        #expect(try await other.whorl("get", "a", "c/d").text == "of a\nof c/d")
        #expect(try await other.whorl("get", "b").status == 66)
      }
    }
  }

  @Test("whorl export leaves out and lists the store's key, dead items and items with their own password")
  func staying() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      try await store.unlocked("set", "gone", "--access", "passcode", input: [1]).mustSucceed()
      try await store.unlocked("passcode", "--remove", "--yes").mustSucceed()
      let own = try await Invocation(
        arguments: store.arguments(["set", "own", "--access", "none", "--app-password-fd", "3"]), input: [1],
        descriptors: ["of its own\n"]
      ).run()
      try own.mustSucceed()
      try await store.whorl("key").mustSucceed()
      let file = "\(store.folder)/all.age"
      let exported = try await Self.run(store, "export", file)
      #expect(exported.status == 0)
      #expect(exported.diagnostics.contains("Exported 1 item to"), "\(exported.diagnostics)")
      #expect(exported.diagnostics.contains("  own: it has a password of its own"), "\(exported.diagnostics)")
      #expect(
        exported.diagnostics.contains("  gone: the fingers or the passcode that it was bound to are gone\n"),
        "\(exported.diagnostics)")
      #expect(exported.diagnostics.contains("  whorl key: it is a key that never leaves its store"))
      let alone = try await Self.run(store, "export", "\(store.folder)/own.age", "own")
      #expect(alone.status == 77 && alone.failure.contains("nothing can be exported: own: it has a password"))
    }
  }

  @Test("one touch releases all items for export at a prompt that says ALL, and a dead item is refused")
  func touch() async throws {
    try await TestStore.enrolled { store in
      let file = "\(store.folder)/all.age"
      let exported = try await Invocation(
        arguments: store.arguments(["export", file, "--passphrase-fd", "3"] + store.reader),
        descriptors: [Self.passphrase + "\n"]
      ).run(heard: Touches(socket: store.socket, [.right]).heard)
      #expect(exported.status == 0, "\(exported.diagnostics)")
      #expect(
        exported.diagnostics.contains("Swipe the reader (virtual reader) to export ALL 4 items to \(file)"),
        "\(exported.diagnostics)")
      #expect(exported.diagnostics.matches(of: /Swipe the reader/).count == 1, "\(exported.diagnostics)")
      try await store.touched(["unenroll", "--all", "--yes"], [], passcode: [TestStore.passcode]).mustSucceed()
      let later = try await Self.run(store, "export", file, "open", "--replace")
      #expect(later.status == 0, "\(later.diagnostics)")
      let dead = try await Self.run(store, "export", "\(store.folder)/dead.age", "current-set")
      #expect(dead.status == 77 && dead.failure.contains("dead"), "\(dead.diagnostics)")
    }
  }

  @Test("whorl export leaves no file after a finger that does not match, or a cancelled prompt")
  func refused() async throws {
    try await TestStore.enrolled { store in
      try await withFolder { folder in
        let file = "\(folder)/all.age"
        let refused = try await Invocation(
          arguments: store.arguments(["export", file, "--passphrase-fd", "3"] + store.reader),
          descriptors: [Self.passphrase + "\n"]
        ).run(heard: Touches(socket: store.socket, [.wrong, .wrong, .wrong]).heard)
        #expect(refused.status == 77, "\(refused.diagnostics)")
        let cancelled = try await Invocation(
          arguments: store.arguments(["export", file, "--passphrase-fd", "3"] + store.reader),
          descriptors: [Self.passphrase + "\n"]
        ).run(heard: Touches(socket: store.socket, [.signal(SIGINT)]).heard)
        #expect(cancelled.status == 128 + SIGINT, "\(cancelled.diagnostics)")
        #expect(try folderEntries(folder).isEmpty)
      }
    }
  }

  @Test("whorl export overwrites a file only with --replace, and only by a complete one")
  func replace() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "passcode")
      try await withFolder { folder in
        let file = "\(folder)/all.age"
        try writeFile(file, Array("before".utf8))
        let refused = try await Self.run(store, "export", file)
        #expect(refused.status == 73 && refused.failure.contains("--replace"), "\(refused.diagnostics)")
        let failed = try await Invocation(
          arguments: store.arguments(["export", file, "--replace", "--passcode-fd", "3", "--passphrase-fd", "4"]),
          descriptors: ["wrong passcode\n", Self.passphrase + "\n"]
        ).run()
        #expect(failed.status == 77, "\(failed.diagnostics)")
        #expect(try readFile(file) == Array("before".utf8))
        try await Self.run(store, "export", file, "--replace").mustSucceed()
        #expect(try readFile(file).starts(with: Array("age-encryption.org/v1\n-> scrypt ".utf8)))
        #expect(try folderEntries(folder) == ["all.age"])
        for (path, status) in [("\(folder)/none/a.age", Int32(74)), (folder, 73)] {
          #expect(try await Self.run(store, "export", path).status == status)
        }
      }
    }
  }

  @Test("whorl export asks for its passphrase twice at a terminal, and refuses a short one")
  func terminal() async throws {
    try await TestStore.with { store in
      try await store.set("a", "of a", "--access", "none")
      let file = "\(store.folder)/all.age"
      let short = try await Self.run(store, "export", file, passphrase: "short")
      #expect(short.status == 64 && short.failure.contains("fewer than 8 bytes"), "\(short.diagnostics)")
      #expect(try await store.whorl("export", file).status == 77)
      let typed = try PseudoTerminal(store.arguments(["export", file]))
      try await typed.waits(for: "New passphrase:")
      typed.type("\(Self.passphrase)\n")
      try await typed.waits(for: "New passphrase, again:")
      typed.type("\(Self.passphrase)\n")
      #expect(try await typed.status() == 0, "\(typed.shown)")
      try await TestStore.with { other in
        let opened = try PseudoTerminal(other.arguments(["import", file, "--yes"]))
        try await opened.waits(for: "Passphrase of \(file):")
        opened.type("wrong\n")
        try await opened.waits(for: "Wrong passphrase.")
        opened.type("\(Self.passphrase)\n")
        #expect(try await opened.status() == 0, "\(opened.shown)")
        #expect(try await other.whorl("get", "a").text == "of a")
      }
    }
  }

  @Test("an empty store has nothing to export")
  func empty() async throws {
    try await TestStore.with { store in
      let result = try await Self.run(store, "export", "\(store.folder)/all.age")
      #expect(result.status == 66 && result.failure.contains("there are no items to export"), "\(result.diagnostics)")
    }
  }
}
