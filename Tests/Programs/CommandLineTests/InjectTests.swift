import Glibc
import ProgramDriver
import Testing

@Suite("whorl inject")
struct InjectTests {
  private func inject(_ template: String, _ options: String..., in store: TestStore) async throws -> Invocation.Result {
    try await Invocation(arguments: store.arguments(["inject"] + options), input: Array(template.utf8)).run()
  }

  @Test("whorl inject replaces each reference by its secret, and leaves other braces as they are")
  func fills() async throws {
    try await TestStore.with { store in
      try await store.set("mail/ann", "p{w\n", "--access", "none", "--exact")
      try await store.set("a b", "ü", "--access", "none")
      let filled = try await inject(
        "x {{ whorl://mail/ann }}{{whorl://a b}} {{ .Values.x }} }} {\n{{\twhorl://a b \t}}", in: store)
      #expect(filled.text == "x p{w\nü {{ .Values.x }} }} {\nü")
      #expect(filled.diagnostics.isEmpty)
      #expect(try await inject("no secret\n", in: store).text == "no secret\n")
      #expect(try await inject("", in: store).output.isEmpty)
    }
  }

  @Test("whorl inject tells names apart that differ only in how an accented letter is written")
  func spellings() async throws {
    try await TestStore.with { store in
      try await store.set("caf\u{E9}", "one", "--access", "none")
      try await store.set("cafe\u{301}", "two", "--access", "none")
      let filled = try await inject("{{ whorl://caf\u{E9} }} {{ whorl://cafe\u{301} }}", in: store)
      #expect(filled.text == "one two")
    }
  }

  @Test("whorl inject refuses a template that its secrets make longer than 16 MiB")
  func tooLong() async throws {
    try await TestStore.with { store in
      #expect(
        try await store.whorl("set", "long", "--access", "none", input: [UInt8](repeating: 120, count: 900_000)).status
          == 0)
      let refused = try await inject(String(repeating: "{{ whorl://long }}", count: 40), in: store)
      #expect(refused.status == 65)
      #expect(refused.diagnostics.contains("longer than 16 MiB"), "\(refused.diagnostics)")
    }
  }

  @Test("whorl inject writes a secret of any characters as a string of JSON, and refuses one that is not text there")
  func json() async throws {
    try await TestStore.with { store in
      try await store.set("key", "a\"b\\c\n\u{1}\u{1F}\u{7F}ü/\n", "--access", "none", "--exact")
      let filled = try await inject(#"{"key": {{ json whorl://key }}}"#, in: store)
      #expect(filled.text == #"{"key": "a\"b\\c\u000a\u0001\u001f"# + "\u{7F}" + #"ü/\u000a"}"#)
      #expect(try await store.whorl("set", "bytes", "--access", "none", input: [0xFF, 0xFE]).status == 0)
      let refused = try await inject("{{ json whorl://bytes }}", in: store)
      #expect(refused.status == 65)
      #expect(refused.output.isEmpty)
      #expect(try await inject("{{ whorl://bytes }}", in: store).output == [0xFF, 0xFE])
    }
  }

  @Test(
    "whorl inject refuses a template that it does not understand, with the line, before anybody is asked",
    arguments: [
      ("x\nuser whorl://a\n", "line 2: a reference without braces"),
      ("{{ whorl://a }}\n\n{{ whorl://a\n}}", "line 3: a reference without }} after it"),
      ("{{ whorl:// }}", "line 1: a reference without a name"),
      ("{{ JSON whorl://a }}", "line 1: a reference without braces"),
      ("{{ jsonwhorl://a }}", "line 1: a reference without braces"),
      ("{{ whorl://a {{ whorl://b }}", "line 1: a reference within a reference"),
      ("\n\n{ { whorl://a }}", "line 3: a reference without braces"),
    ])
  func refused(_ template: String, _ what: String) async throws {
    try await TestStore.with { store in
      try await store.set("a", "x")
      let result = try await inject(template, "--out", "\(store.folder)/made", in: store)
      #expect(result.status == 65)
      #expect(result.output.isEmpty)
      #expect(result.diagnostics.hasPrefix("whorl: inject: standard input: \(what): "), "\(result.diagnostics)")
      #expect(result.diagnostics.split(separator: "\n").count == 1)
      #expect(access("\(store.folder)/made", F_OK) != 0)
    }
  }

  @Test("whorl inject refuses a template that is not UTF-8, has a NUL in it, is too long or missing")
  func unreadable() async throws {
    try await TestStore.with { store in
      for bytes in [[0xFF], [0x61, 0]] as [[UInt8]] {
        #expect(try await store.whorl("inject", input: bytes).status == 65)
      }
      #expect(try await store.whorl("inject", input: [UInt8](repeating: 0x61, count: (1 << 20) + 1)).status == 64)
      let missing = try await store.whorl("inject", "--in", "\(store.folder)/missing")
      #expect(missing.status == 66)
      #expect(missing.failure.contains("\(store.folder)/missing"), "\(missing.failure)")
    }
  }

  @Test("whorl inject makes a file for its user alone, and replaces one only with --replace")
  func file() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret", "--access", "none")
      let (template, made) = ("\(store.folder)/template", "\(store.folder)/made")
      try writeFile(template, Array("a={{ whorl://a }}\n".utf8))
      func inject(_ more: String...) async throws -> Invocation.Result {
        try await Invocation(
          arguments: store.arguments(["inject", "--in", template, "--out", made] + more)
        ).run()
      }
      try await inject().mustSucceed()
      #expect(String(decoding: try readFile(made), as: UTF8.self) == "a=secret\n")
      var status = stat()
      #expect(stat(made, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      #expect(try await inject().status == 73)
      try writeFile(template, Array("b={{ whorl://missing }}\n".utf8))
      #expect(try await inject("--replace").status == 66)
      #expect(String(decoding: try readFile(made), as: UTF8.self) == "a=secret\n")
      try writeFile(template, Array("b={{ whorl://a }}\n".utf8))
      chmod(made, 0o644)
      try await inject("--replace").mustSucceed()
      #expect(String(decoding: try readFile(made), as: UTF8.self) == "b=secret\n")
      #expect(stat(made, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
  }

  @Test(
    "whorl inject and run --env-file ask once for all secrets, name each in the prompt, and write nothing if refused")
  func asksOnce() async throws {
    try await TestStore.enrolled { store in
      let template = Array("{{ whorl://presence }} {{ whorl://any-finger }} {{ whorl://presence }}".utf8)
      let filled = try await store.touched(["inject"], [.right], input: template)
      #expect(filled.text == "presence any-finger presence")
      #expect(
        filled.diagnostics.contains("to use “presence”, “any-finger”, for: fill in a template"),
        "\(filled.diagnostics)")
      let made = "\(store.folder)/made"
      let refused = try await store.touched(["inject", "--out", made], [.wrong, .wrong, .wrong], input: template)
      #expect(refused.status == 77)
      #expect(access(made, F_OK) != 0)
      try writeFile("\(store.folder)/env", Array("A={{ whorl://presence }}\nB=whorl://any-finger\n".utf8))
      let run = try await store.touched(
        ["run", "--env-file", "\(store.folder)/env", "--mask", "--", "/bin/sh", "-c", "echo 1$A 2$B"], [.right])
      #expect(run.text == "1***** 2*****\n")
      #expect(run.diagnostics.contains("to use “presence”, “any-finger”, for: run /bin/sh"), "\(run.diagnostics)")
    }
  }
}
