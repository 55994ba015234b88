import ProgramDriver
import Testing

@Suite("import")
struct ImportTests {
  private static let file = """
    title,username,password,notes
    Forge,alice,of the forge,a note
    Mail,,of the mail,
    Mail,,another,
    Broken,x,y,z,too many

    """

  private func with(_ body: (TestStore, _ file: String) async throws -> Void) async throws {
    try await TestStore.with { store in
      let path = "\(store.folder)/passwords.csv"
      try writeFile(path, Array(Self.file.utf8))
      try await body(store, path)
    }
  }

  @Test("whorl import --dry-run lists what would be imported, and imports nothing")
  func dryRun() async throws {
    try await with { store, file in
      let told = try await store.whorl("import", "--from", "csv", file, "--dry-run")
      #expect(told.status == 0 && told.output.isEmpty)
      #expect(
        told.diagnostics == """
          Would bring in 2 entries:
            Forge/alice
            Mail
          1 entry with the name of an earlier one: rename one of them, and import again:
            Mail
          Not imported completely: 1 entry:
            line 5: it has 5 fields, and the first line names 4

          """)
      #expect(try await store.whorl("ls").text.isEmpty)
    }
  }

  @Test("whorl import gives items the named rule, and imports nothing a second time")
  func again() async throws {
    try await with { store, file in
      let first = try await store.whorl("import", "--from", "csv", file, "--yes", "--access", "none", "--json")
      #expect(
        first.text == #"{"alreadyThere":[],"brought":["Forge/alice#notes","Forge/alice","Mail"],"dryRun":false,"#
          + #""duplicates":["Mail"],"staying":[{"entry":"line 5","reason":"has 5 fields, and the first line names 4"}]}"#
          + "\n")
      #expect(first.status == 79)
      #expect(first.diagnostics.isEmpty, "\(first.diagnostics)")
      #expect(try await store.whorl("get", "Forge/alice").text == "of the forge")
      #expect(try await store.whorl("get", "Forge/alice#notes").text == "a note")
      #expect(try await store.whorl("get", "Mail").text == "of the mail")
      let second = try await store.whorl("import", "--from", "csv", file, "--json")
      // The other entry of that name and the broken line are still not there.
      #expect(second.status == 79, "\(second.diagnostics)")
      #expect(second.text.contains(#""alreadyThere":["Forge/alice","Mail"],"brought":[],"#), "\(second.text)")
      #expect(try await store.whorl("ls").text.split(separator: "\n").count == 3)
    }
  }

  @Test("whorl import does not change an existing item of the same name, and completes a partly imported entry")
  func kept() async throws {
    try await with { store, file in
      try await store.set("Mail", "typed", "--access", "none")
      try await store.set("Forge/alice#notes", "of before", "--access", "none")
      let result = try await store.whorl("import", "--from", "csv", file, "--yes", "--access", "none")
      #expect(result.status == 79, "\(result.diagnostics)")
      #expect(
        result.failure == "whorl: import: not everything was imported: the rest is listed above, with the reasons: "
          + "correct that and import again: nothing is imported twice")
      #expect(try await store.whorl("get", "Mail").text == "typed")
      #expect(try await store.whorl("get", "Forge/alice").text == "of the forge")
      #expect(try await store.whorl("get", "Forge/alice#notes").text == "of before")
    }
  }

  @Test("whorl import needs a yes: typed at the terminal, or given as an option")
  func question() async throws {
    try await with { store, file in
      let refused = try await store.whorl("import", "--from", "csv", file)
      #expect(refused.status == 77)
      #expect(refused.failure.contains("this has to be confirmed"), "\(refused.failure)")
      #expect(try await store.whorl("ls").text.isEmpty)
      let no = try PseudoTerminal(store.arguments(["import", "--from", "csv", file]))
      try await no.waits(for: "Go on?")
      #expect(no.shown.contains("Would bring in 2 entries"))
      no.type("n\n")
      #expect(try await no.status() == 77)
      #expect(try await store.whorl("ls").text.isEmpty)
      let yes = try PseudoTerminal(store.arguments(["import", "--from", "csv", file]))
      try await yes.waits(for: "Go on?")
      yes.type("y\n")
      #expect(try await yes.status() == 79)
      #expect(yes.shown.contains("contains the secrets unencrypted"))
      #expect(try await store.whorl("ls").text.split(separator: "\n").count == 3)
    }
  }

  @Test("whorl import --access passcode reads a file from standard input, and its items need the passcode")
  func standardInput() async throws {
    try await TestStore.with { store in
      let result = try await store.whorl(
        "import", "--from", "keepassxc", "-", "--yes", "--access", "passcode", input: Array(Self.file.utf8))
      #expect(result.status == 79, "\(result.diagnostics)")
      #expect(try await store.whorl("get", "Mail").status == 77)
      #expect(try await store.unlocked("get", "Mail").text == "of the mail")
    }
  }

  @Test("whorl import leaves out an item that is too long for a store, and brings in the others")
  func tooLong() async throws {
    try await TestStore.with { store in
      let text = "title,password\nLong,\(String(repeating: "x", count: (1 << 20) + 1))\nShort,x\n"
      let result = try await store.whorl(
        "import", "--from", "csv", "-", "--yes", "--access", "none", "--json", input: Array(text.utf8))
      #expect(result.status == 79, "\(result.diagnostics)")
      #expect(result.text.contains(#""brought":["Short"]"#), "\(result.text.prefix(300))")
      #expect(result.text.contains(#"{"entry":"Long","reason":"was refused by the store: "#))
    }
  }

  @Test("whorl import reports a damaged field of a file by its line and column, and never shows it")
  func spoiltField() async throws {
    try await TestStore.with { store in
      let file =
        Array("url,username,password\nhttps://a.test,ann,canary".utf8) + [0xE4]
        + Array("canary\nhttps://b.test,bob,x\n".utf8)
      let told = try await store.whorl("import", "--from", "csv", "-", "--dry-run", input: file)
      #expect(
        told.status == 0 && told.diagnostics.contains("  line 2: its password is not in UTF-8\n"), "\(told.diagnostics)"
      )
      let words = ["import", "--from", "csv", "-", "--yes", "--access", "none"]
      let json = try await Invocation(arguments: store.arguments(words + ["--json"]), input: file).run()
      #expect(json.status == 79 && json.diagnostics.isEmpty, "\(json.diagnostics)")
      #expect(
        json.text.contains(#""staying":[{"entry":"line 2","field":"password","reason":"is not in UTF-8"}]"#),
        "\(json.text)")
      for shown in [told.text, told.diagnostics, json.text] { #expect(!shown.contains("canary"), "\(shown)") }
      #expect(try await store.whorl("ls").text.split(separator: "\n").count == 1)
    }
  }

  @Test("a complete import ends with status 0, and lists what it leaves out of every entry")
  func whole() async throws {
    try await TestStore.with { store in
      let file = "title,password,created\nForum,pw,2026-01-01\n"
      let result = try await store.whorl(
        "import", "--from", "csv", "-", "--yes", "--access", "none", input: Array(file.utf8))
      #expect(result.status == 0)
      #expect(
        result.diagnostics.contains("Left out: of every entry, what is no secret in the column 'created'.\n"),
        "\(result.diagnostics)")
    }
  }

  @Test("whorl import names a file that contains the secrets still, and nothing that is gone when it was read")
  func remains() async throws {
    try await TestStore.with { store in
      let words = ["--from", "csv", "--yes", "--access", "none"]
      let pipe = try await Invocation(
        arguments: store.arguments(["import", "/dev/fd/3"] + words), descriptors: ["title,password\nA,p\n"]
      ).run()
      #expect(pipe.status == 0 && !pipe.diagnostics.contains("delete it"), "\(pipe.diagnostics)")
      try writeFile("\(store.folder)/b.csv", Array("title,password\nB,p\n".utf8))
      let file = try await Invocation(arguments: store.arguments(["import", "\(store.folder)/b.csv"] + words)).run()
      #expect(file.status == 0 && file.diagnostics.contains("b.csv contains the secrets unencrypted"))
    }
  }

  @Test("an entry without a password is listed under the names of its items, before and after it is imported")
  func withoutPassword() async throws {
    try await TestStore.with { store in
      let file = Array("name,password,note,cardnumber,type\nVisa,,mine,4111,credit_card\nClub,,,,folder\n".utf8)
      let planned = try await store.whorl("import", "--from", "csv", "-", "--dry-run", input: file)
      #expect(planned.status == 0 && planned.diagnostics.hasPrefix("Would bring in 1 entry:\n  Visa#notes\n"))
      for brought in [#"["Visa#cardnumber","Visa#notes"]"#, "[]"] {
        let result = try await store.whorl(
          "import", "--from", "csv", "-", "--yes", "--access", "none", "--json", input: file)
        #expect(result.status == 0 && result.text.contains(#""brought":"# + brought), "\(result.text)")
      }
      #expect(try await store.whorl("get", "Visa#cardnumber").text == "4111")
    }
  }

  @Test("whorl import reports bad input in one line, and with a status for its kind")
  func badInput() async throws {
    try await TestStore.with { store in
      let bad: [([String], Int32, String)] = [
        (["--from", "csv", "-"], 65, "there is nothing in it"),
        (["--from", "csv", "/nonexistent"], 66, "there is nothing at /nonexistent"),
        (["--from", "csv", "/nonexistent.1pux"], 66, "there is nothing at /nonexistent.1pux"),
        (["--from", "pass", "/etc/passwd"], 65, "/etc/passwd is a file, and pass keeps a folder"),
        (["--from", "csv", "/"], 65, "/ is a folder: name the file in it"),
        (["--from", "csv"], 64, "Name the file"),
        (["--from", "secret-service", "x"], 64, "The Secret Service has no path"),
        (["--from", "what"], 64, "what"),
        (["--from", "pass"], 66, "there is nothing at /nonexistent/.password-store"),
      ]
      for (words, status, line) in bad {
        let result = try await Invocation(arguments: store.arguments(["import"] + words)).run()
        #expect(result.status == status, "\(words): \(result.diagnostics)")
        #expect(result.diagnostics.split(separator: "\n").count == 1, "\(result.diagnostics)")
        #expect(result.diagnostics.contains(line), "\(result.diagnostics)")
      }
      let none = try await store.whorl(
        "import", "--from", "secret-service",
        environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus,guid=1"])
      #expect(none.status == 69)
      #expect(none.failure.contains("there is no Secret Service"), "\(none.failure)")
    }
  }
}
