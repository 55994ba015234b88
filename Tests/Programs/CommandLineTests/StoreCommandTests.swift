import Glibc
import ProgramDriver
import Testing

@Suite("Storing and reading without a finger")
struct StoreCommandTests {
  @Test("whorl get returns a secret byte for byte, with nothing else on standard output")
  func roundTrip() async throws {
    try await TestStore.with { store in
      let secret = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let stored = try await store.whorl("set", "a/b", "--access", "none", input: secret)
      #expect(stored.status == 0)
      #expect(stored.output.isEmpty)
      let got = try await store.whorl("get", "a/b")
      #expect(got.status == 0)
      #expect(got.output == secret)
      #expect(got.diagnostics.isEmpty)
    }
  }

  @Test("a secret can have up to a mebibyte, and can be empty")
  func limits() async throws {
    try await TestStore.with { store in
      let largest = [UInt8](repeating: 0x5A, count: 1 << 20)
      #expect(try await store.whorl("set", "large", "--access", "none", input: largest).status == 0)
      #expect(try await store.whorl("get", "large").output == largest)
      let refused = try await store.whorl("set", "larger", "--access", "none", input: largest + [0])
      #expect(refused.status == 64)
      #expect(refused.failure.contains("the secret is longer than 1048576 bytes: "))
      #expect(try await store.whorl("ls").text.hasPrefix("large\tgeneric-password\twhorl\tid:"))
      #expect(try await store.whorl("set", "empty", "--access", "none", input: []).status == 0)
      let empty = try await store.whorl("get", "empty")
      #expect(empty.status == 0 && empty.output.isEmpty)
    }
  }

  @Test("whorl set overwrites an existing item only with --replace")
  func replace() async throws {
    try await TestStore.with { store in
      try await store.set("a", "one", "--access", "none")
      let refused = try await store.whorl("set", "a", "--access", "none", input: Array("two".utf8))
      #expect(refused.status == 73)
      #expect(refused.failure == "whorl: set: a exists already: --replace overwrites it")
      #expect(try await store.whorl("get", "a").text == "one")
      try await store.set("a", "two", "--access", "none", "--replace")
      #expect(try await store.whorl("get", "a").text == "two")
    }
  }

  @Test("whorl set stores piped text without its final line feed, and other data byte for byte")
  func lineFeed() async throws {
    let text = Array("two words\tand “more”".utf8)
    let cases: [(input: [UInt8], options: [String], kept: [UInt8])] = [
      (text + [0x0A], [], text), (text + [0x0A], ["--exact"], text + [0x0A]), (text, [], text), ([0x0A], [], []),
      (text + [0x0A] + text + [0x0A], [], text + [0x0A] + text + [0x0A]),
      (text + [0x0A, 0x0A], [], text + [0x0A, 0x0A]),
      // A key of random bytes may end with the byte of a line feed.
      ([0xFF, 0x0A], [], [0xFF, 0x0A]), ([0x01, 0x0A], [], [0x01, 0x0A]), (text + [0, 0x0A], [], text + [0, 0x0A]),
    ]
    try await TestStore.with { store in
      for (input, options, kept) in cases {
        try await Invocation(
          arguments: store.arguments(["set", "a", "--access", "none", "--replace"] + options), input: input
        ).run().mustSucceed()
        #expect(try await store.whorl("get", "a").output == kept, "\(input) \(options)")
      }
      // The line feed is kept: a file's contents are taken as they are.
      try writeFile("\(store.folder)/secret", text + [0x0A])
      let words = try [Programs.path("whorl")] + store.arguments(["set", "a", "--access", "none", "--replace"])
      try await Invocation(
        program: "/bin/sh",
        arguments: ["-c", "exec \"$@\" <'\(store.folder)/secret'", "sh"] + words
      ).run().mustSucceed()
      #expect(try await store.whorl("get", "a").output == text + [0x0A])
    }
  }

  @Test("whorl rm at a terminal asks first, and lists what it removed; with --yes or a pipe it does not ask")
  func removeAsks() async throws {
    try await TestStore.with { store in
      for name in ["bank", "mail/alice", "note", "code"] { try await store.set(name, "x", "--access", "none") }
      let declined = try PseudoTerminal(store.arguments(["rm", "bank"]))
      try await declined.waits(for: "Remove “bank”? It cannot be brought back. [y/N]")
      declined.type("n\n")
      #expect(try await declined.status() == 77)
      #expect(try await store.whorl("get", "bank").text == "x")

      let several = try PseudoTerminal(store.arguments(["rm", "bank", "mail/alice"]))
      try await several.waits(for: "Remove “bank”, “mail/alice”? They cannot be brought back. [y/N]")
      several.type("y\n")
      #expect(try await several.status() == 0)
      #expect(several.shown.contains("Removed “bank”, “mail/alice”."), "\(several.shown)")

      for (words, name, input) in [(["-y"], "note", nil), ([], "code", "/dev/null")] as [([String], String, String?)] {
        let unasked = try PseudoTerminal(store.arguments(["rm", name] + words), input: input)
        #expect(try await unasked.status() == 0)
        #expect(!unasked.shown.contains("[y/N]") && unasked.shown.contains("Removed “\(name)”."), "\(unasked.shown)")
      }
      #expect(try await store.whorl("ls").output.isEmpty)
    }
  }

  @Test("whorl get separates several secrets by newlines, ends them by NULs, or gives base64 in JSON")
  func several() async throws {
    try await TestStore.with { store in
      try await store.set("a/1", "one", "--access", "none")
      try await store.set("b", "two\n", "--access", "none", "--exact")
      #expect(try await store.whorl("get", "a/1", "b").text == "one\ntwo\n")
      #expect(try await store.whorl("get", "-0", "a/1", "b").text == "one\0two\n\0")
      #expect(
        try await store.whorl("get", "--json", "a/1", "b").text
          == #"{"items":[{"account":"1","secret":"b25l","service":"a"},{"account":"","secret":"dHdvCg==","service":"b"}]}"#
          + "\n")
    }
  }

  @Test("whorl get of several items writes no secret if one item is missing")
  func missing() async throws {
    try await TestStore.with { store in
      try await store.set("a", "one", "--access", "none")
      let result = try await store.whorl("get", "a", "gone")
      #expect(result.status == 66)
      #expect(result.output.isEmpty)
      #expect(result.failure == "whorl: get: no item gone: 'whorl ls' lists what there is")
      #expect(result.diagnostics.split(separator: "\n").count == 1)
    }
  }

  @Test("ls lists everything, a service, a name or a pattern")
  func list() async throws {
    try await TestStore.with { store in
      for name in ["mail/alice", "mail/bob", "web/alice", "mail"] { try await store.set(name, "x", "--access", "none") }
      func listed(_ query: String...) async throws -> Set<String> {
        let result = try await Invocation(arguments: store.arguments(["ls"] + query)).run()
        #expect(result.status == 0)
        return Set(result.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) })
      }
      #expect(try await listed() == ["mail/alice", "mail/bob", "web/alice", "mail"])
      #expect(try await listed("mail") == ["mail/alice", "mail/bob", "mail"])
      #expect(try await listed("mail/bob") == ["mail/bob"])
      #expect(try await listed("*/alice") == ["mail/alice", "web/alice"])
      #expect(try await listed("mail/b?b") == ["mail/bob"])
      #expect(try await listed("none").isEmpty)
      let json = try await store.whorl("ls", "mail/bob", "--json").text
      for part in [
        #""account":"bob""#, #""service":"mail""#, #""access":"none""#, #""accessible":"when-unlocked""#,
        #""state":"living""#, #""applicationPassword":false"#, #""created":"#, #""modified":"#,
      ] { #expect(json.contains(part), "\(json)") }
    }
  }

  @Test("rm removes either all named items or none")
  func remove() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      try await store.set("b", "x", "--access", "none")
      #expect(try await store.whorl("rm", "a", "gone").status == 66)
      #expect(try await store.whorl("ls").text.split(separator: "\n").count == 2)
      let removed = try await store.whorl("rm", "a", "b", "--json")
      #expect(removed.status == 0)
      #expect(removed.text == #"{"removed":["a","b"]}"# + "\n")
      #expect(try await store.whorl("ls").output.isEmpty)
    }
  }

  @Test(
    "an invalid item name is wrong usage", arguments: ["", "/account", "tab\there", String(repeating: "x", count: 256)])
  func names(_ name: String) async throws {
    try await TestStore.with { store in
      let result = try await store.whorl("set", name, "--access", "none", input: [1])
      #expect(result.status == 64)
      #expect(result.diagnostics.split(separator: "\n").count == 1)
    }
  }

  @Test("item names are any UTF-8, split at the first slash; terminals and errors show control characters escaped")
  func unicodeNames() async throws {
    try await TestStore.with { store in
      try await store.set("Bücher/日本/語", "x", "--access", "none")
      #expect(try await store.whorl("ls", "Bücher").text.hasPrefix("Bücher/日本/語\t"))
      #expect(try await store.whorl("get", "Bücher/日本/語").text == "x")
      let reversed = try await store.whorl("get", "a\u{202E}b")
      #expect(reversed.failure.contains(#"a\u{202e}b"#))
      let marked = try await store.whorl("get", "a\u{061C}b")
      #expect(marked.failure.contains(#"a\u{61c}b"#))
      // A program gets the name as it is.
      try await store.set("a\u{202E}b", "x", "--access", "none")
      #expect(try await store.whorl("ls", "a\u{202E}b").text.hasPrefix("a\u{202E}b\t"))
      let terminal = try PseudoTerminal(store.arguments(["ls"]))
      #expect(try await terminal.status() == 0)
      #expect(terminal.shown.contains(#"a\u{202e}b  "#) && !terminal.shown.contains("\u{202E}"), "\(terminal.shown)")
    }
  }

  @Test("an item with an application password is not read without it, and a wrong one releases nothing")
  func applicationPassword() async throws {
    try await TestStore.with { store in
      let stored = try await store.whorl(
        "set", "a", "--access", "none", "--app-password-fd", "3", input: Array("secret".utf8), descriptors: ["word\n"])
      #expect(stored.status == 0, "\(stored.diagnostics)")
      let right = try await store.whorl("get", "a", "--app-password-fd", "3", descriptors: ["word\n"])
      #expect(right.text == "secret")
      let wrong = try await store.whorl("get", "a", "--app-password-fd", "3", descriptors: ["other\n"])
      #expect(wrong.status == 77)
      #expect(wrong.output.isEmpty)
      #expect(wrong.failure.contains("wrong application password: "))
      #expect(try await store.whorl("get", "a").status == 77)
    }
  }

  @Test("a released secret is in none of the store's files")
  func nothingInTheFiles() async throws {
    try await TestStore.with { store in
      let canary = "canary-\(String(UInt64.random(in: .min ... .max), radix: 36))-canary"
      try await store.set("a", canary, "--access", "none")
      #expect(try await store.whorl("get", "a").text == canary)
      try await store.set("a", "another", "--access", "none", "--replace")
      for file in ["vault.db", "vault.db-wal", "state", "device.key"] {
        guard access("\(store.directory)/\(file)", F_OK) == 0 else { continue }
        let bytes = try readFile("\(store.directory)/\(file)")
        #expect(String(decoding: bytes, as: UTF8.self).contains(canary) == false, "\(file)")
      }
    }
  }

  @Test("no write-ahead log is left after a command, since it could hold destroyed keys")
  func noLog() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret", "--access", "none")
      #expect(access("\(store.directory)/vault.db-wal", F_OK) != 0)
      #expect(try await store.whorl("get", "a").text == "secret")
      #expect(access("\(store.directory)/vault.db-wal", F_OK) != 0)
    }
  }

  @Test("whorl get reports a closed pipe on standard output as a write error")
  func brokenPipe() async throws {
    try await TestStore.with { store in
      try await store.set("a", String(repeating: "x", count: 200_000), "--access", "none")
      let whorl = try Programs.path("whorl")
      let result = try await Invocation(
        program: "/bin/sh",
        arguments: ["-c", "{ \(whorl) get a --store \(store.directory); echo $? >&2; } | true"]
      ).run()
      #expect(result.diagnostics.hasSuffix("74\n"), "\(result.diagnostics)")
    }
  }

  @Test("a store of a newer version of Whorl is refused in a sentence that says so, and stays as it is")
  func newerStore() async throws {
    try await TestStore.with { store in
      try await store.set("mail", "of mail", "--access", "none")
      let database = "\(store.directory)/vault.db"
      let ours = try readFile(database)
      let script = """
        import sqlite3
        file = sqlite3.connect("\(database)")
        file.execute("PRAGMA user_version = 1000")
        file.close()
        """
      try await Invocation(program: "/usr/bin/python3", arguments: ["-c", script]).run().mustSucceed()
      let newer = try readFile(database)
      for command in ["get", "rm"] {
        let refused = try await store.whorl(command, "mail")
        #expect(refused.status == 65, "\(command): \(refused.diagnostics)")
        #expect(
          refused.failure.contains("the store is of a newer format (1000)")
            && refused.failure.contains("update whorl"), "\(command): \(refused.failure)")
      }
      #expect(try readFile(database) == newer)
      try writeFile(database, ours)
      #expect(try await store.whorl("get", "mail").text == "of mail")
    }
  }
}
