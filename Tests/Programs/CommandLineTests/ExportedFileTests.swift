import Glibc
import ProgramDriver
import Testing

@Suite("Files of export: keys, age, damage and bound items")
struct ExportedFileTests {
  private func age(_ program: String, _ words: String..., input: [UInt8]? = nil) async throws -> Invocation.Result {
    try await Invocation(program: "/usr/bin/\(program)", arguments: words, input: input).run()
  }

  private func publicKey(of store: TestStore) async throws -> String {
    let told = try await store.whorl("key")
    #expect(told.status == 0 && told.diagnostics.isEmpty, "\(told.diagnostics)")
    return String(told.text.dropLast())
  }

  @Test("whorl key always prints the same key, and only its store opens files that are exported to the key")
  func keys() async throws {
    try await TestStore.with { store in
      try await store.set("a", "of a", "--access", "none")
      try await TestStore.with { other in
        let key = try await publicKey(of: other)
        #expect(key.hasPrefix("age1") && key.count == 62)
        #expect(try await publicKey(of: other) == key)
        #expect(try await other.whorl("key", "--json").text == #"{"publicKey":"\#(key)"}"# + "\n")
        let file = "\(store.folder)/to.age"
        try await store.whorl("export", file, "--to", key).mustSucceed()
        let refused = try await other.whorl("import", file, "--yes")
        #expect(refused.status == 69, "\(refused.diagnostics)")
        #expect(try await other.whorl("get", "a").status == 66)
        let imported = try await other.unlocked("import", file, "--yes")
        #expect(imported.status == 0, "\(imported.diagnostics)")
        #expect(try await other.whorl("get", "a").text == "of a")
        let without = try await store.unlocked("import", file, "--yes")
        #expect(without.status == 66 && without.failure.contains("this store has none"), "\(without.diagnostics)")
        _ = try await publicKey(of: store)
        let another = try await store.unlocked("import", file, "--yes")
        #expect(another.status == 65 && another.failure.contains("another public key"), "\(another.diagnostics)")
      }
      for wrong in ["age1", "ssh-ed25519 AAAA", String(repeating: "a", count: 62)] {
        let result = try await store.whorl("export", "\(store.folder)/x.age", "--to", wrong)
        #expect(result.status == 64, "\(result.diagnostics)")
      }
      let small = "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z"
      #expect(try await store.whorl("export", "\(store.folder)/x.age", "--to", small).status == 64)
    }
  }

  @Test("age opens an exported file, and a file that age encrypted is imported")
  func interoperability() async throws {
    try await TestStore.with { store in
      try await store.set("mail/alice", "of alice", "--access", "none")
      let identity = "\(store.folder)/identity"
      try await age("age-keygen", "-o", identity).mustSucceed()
      let key = try await age("age-keygen", "-y", identity).text
      let file = "\(store.folder)/to.age"
      try await store.whorl("export", file, "--to", String(key.dropLast())).mustSucceed()
      let plain = try await age("age", "-d", "-i", identity, file)
      #expect(
        plain.text == """
          {"format":"whorl-items","version":1}
          {"item":{"access":[],"accessible":"when-unlocked","attributes":{"acct":{"text":"alice"},\
          "agrp":{"text":"whorl"},"svce":{"text":"mail"}},"class":"genp","secret":8}}
          of alice
          {"end":1}

          """)
      try await TestStore.with { other in
        let back = "\(store.folder)/back.age"
        try await age("age", "-r", publicKey(of: other), "-o", back, input: plain.output).mustSucceed()
        try await other.unlocked("import", back, "--yes").mustSucceed()
        #expect(try await other.whorl("get", "mail/alice").text == "of alice")
      }
    }
  }

  @Test("whorl import of a file with incomplete or malformed contents brings in nothing")
  func otherContents() async throws {
    try await TestStore.with { store in
      let key = try await publicKey(of: store)
      let beginning = #"{"format":"whorl-items","version":1}"# + "\n"
      func item(_ secret: Int, access: String = "", attributes: String = #""svce":{"text":"a"}"#) -> String {
        #"{"item":{"access":[\#(access)],"accessible":"when-unlocked","attributes":{\#(attributes),"agrp":{"text":"whorl"}},"#
          + #""class":"genp","secret":\#(secret)}}"# + "\n"
      }
      let contents = [
        "", "hello", "hello\n", beginning, beginning.replacing("1}", with: "2}") + #"{"end":0}"# + "\n",
        beginning + item(1) + "x\n", beginning + item(1) + "x\n{\"end\":2}\n",
        beginning + item(1) + "xx\n{\"end\":1}\n",
        beginning + item(-1) + "\n{\"end\":1}\n", beginning + item(1 << 21) + "\n{\"end\":1}\n",
        beginning + item(1, access: #""unheard-of""#) + "x\n{\"end\":1}\n",
        beginning + item(1, attributes: #""svce":{"text":"a","number":1}"#) + "x\n{\"end\":1}\n",
        beginning + item(1) + "x\n{\"end\":1}\nmore",
      ]
      for text in contents {
        let file = "\(store.folder)/file.age"
        unlink(file)
        try await age("age", "-r", key, "-o", file, input: Array(text.utf8)).mustSucceed()
        let result = try await store.unlocked("import", file, "--yes")
        #expect(result.status == 65 && result.failure.contains("does not hold items"), "\(text): \(result.diagnostics)")
        #expect(result.diagnostics.split(separator: "\n").count == 1, "\(result.diagnostics)")
      }
      #expect(try await store.whorl("ls").text.split(separator: "\n").count == 1)
    }
  }

  @Test("whorl import does not bring in key pairs for the store and login entries in a file, and lists them")
  func ownGroups() async throws {
    try await TestStore.with { store in
      let key = try await publicKey(of: store)
      func item(_ service: String, _ account: String, _ group: String) -> String {
        #"{"item":{"access":[],"accessible":"when-unlocked","attributes":{"svce":{"text":"\#(service)"},"#
          + #""acct":{"text":"\#(account)"},"agrp":{"text":"\#(group)"}},"class":"genp","secret":1}}"# + "\nx\n"
      }
      let text =
        #"{"format":"whorl-items","version":1}"# + "\n" + item("whorl key", "planted", "org.whorl.key")
        + item("gnome-keyring", "login", "org.whorl.login") + item("mail", "alice", "whorl") + #"{"end":3}"# + "\n"
      let file = "\(store.folder)/file.age"
      try await age("age", "-r", key, "-o", file, input: Array(text.utf8)).mustSucceed()
      let before = try await store.whorl("ls").text.split(separator: "\n").count
      let imported = try await store.unlocked("import", file, "--yes")
      let told = imported.text + imported.diagnostics
      #expect(told.contains("whorl login") && told.contains("store's own key"), "\(told)")
      #expect(try await store.whorl("get", "mail/alice").text == "x")
      #expect(try await store.whorl("ls").text.split(separator: "\n").count == before + 1)
    }
  }

  @Test("whorl import refuses a damaged, truncated or extended file and a wrong passphrase, each in one line")
  func damage() async throws {
    try await TestStore.with { store in
      try await store.set("a", String(repeating: "x", count: 100_000), "--access", "none")
      let file = "\(store.folder)/all.age"
      try await ExportTests.run(store, "export", file).mustSucceed()
      let whole = try readFile(file)
      func flipped(_ place: Int) -> [UInt8] {
        var bytes = whole
        bytes[place] ^= 1
        return bytes
      }
      try await TestStore.with { other in
        func refuses(_ bytes: [UInt8], _ status: Int32, _ words: String) async throws {
          try writeFile(file, bytes)
          let result = try await ExportTests.run(other, "import", file, "--yes")
          #expect(result.status == status, "\(result.diagnostics)")
          #expect(result.failure.contains(words), "\(result.diagnostics)")
          #expect(result.diagnostics.split(separator: "\n").count == 1, "\(result.diagnostics)")
        }
        try await refuses([], 65, "it is empty")
        // A file of another program, whose name was forgotten.
        try await refuses(Array("name,url\n".utf8), 65, "name that, as in 'whorl import --from csv FILE'")
        try await refuses(Array(whole.prefix(100)), 65, "its header was damaged or cut off")
        try await refuses(flipped(140), 65, "its header was damaged")
        try await refuses(flipped(whole.count - 200), 65, "its contents were damaged")
        try await refuses(Array(whole.dropLast(1)), 65, "cut off")
        try await refuses(Array(whole.dropLast(40_000)), 65, "cut off")
        try await refuses(whole + [0], 65, "something was appended")
        let costly = String(decoding: whole.prefix(80), as: UTF8.self).replacing(" 18\n", with: " 30\n")
        try await refuses(Array(costly.utf8) + whole.dropFirst(80), 65, "at most 2^20")
        try writeFile(file, whole)
        let wrong = try await ExportTests.run(other, "import", file, "--yes", passphrase: "another one")
        #expect(wrong.status == 77 && wrong.failure.contains("the passphrase does not open the file"))
        #expect(wrong.diagnostics.split(separator: "\n").count == 1)
        #expect(try await other.whorl("import", "/nonexistent").status == 66)
        #expect(try await other.whorl("import", "/").status == 64)
        #expect(try await other.whorl("ls").text.isEmpty)
      }
    }
  }

  @Test("whorl import binds bound items to the fingers enrolled here after one touch, or does not bring them in")
  func bound() async throws {
    try await TestStore.enrolled { store in
      let file = "\(store.folder)/bound.age"
      func run(_ store: TestStore, _ words: String..., touches: [Touches.Touch] = []) async throws -> Invocation.Result
      {
        try await Invocation(
          arguments: store.arguments(words + ["--passphrase-fd", "3"] + store.reader),
          descriptors: [ExportTests.passphrase + "\n"]
        ).run(heard: Touches(socket: store.socket, touches).heard)
      }
      try await run(store, "export", file, "current-set", "open", touches: [.right]).mustSucceed()
      try await TestStore.with { other in
        let without = try await run(other, "import", file, "--yes", "--json")
        #expect(without.status == 79, "\(without.diagnostics)")
        #expect(without.text.contains(#""brought":["open"],"#), "\(without.text)")
        #expect(without.text.contains("none is enrolled here"), "\(without.text)")
        try await other.enroll("left-thumb", .thumb).mustSucceed()
        let skipped = try await run(other, "import", file, "--yes", "--json", "--skip-bound")
        #expect(skipped.text.contains(#""brought":[],"#), "\(skipped.text)")
        let dry = try await run(other, "import", file, "--dry-run")
        #expect(dry.diagnostics.contains("One touch would bind 1 of them to the fingers enrolled here"))
        let refused = try await run(other, "import", file, "--yes", touches: [.right, .right, .right])
        #expect(refused.status == 77, "\(refused.diagnostics)")
        #expect(try await other.whorl("ls").text.split(separator: "\n").count == 1)
        let bound = try await run(other, "import", file, "--yes", touches: [.thumb])
        #expect(bound.status == 0, "\(bound.diagnostics)")
        #expect(
          bound.diagnostics.contains("to bind 1 item of \(file) to the fingers enrolled here"), "\(bound.diagnostics)")
        let read = try await other.touched(["get", "current-set"], [.thumb])
        #expect(read.text == "current-set", "\(read.diagnostics)")
      }
    }
  }
}
