import Presence
import Primitives
import ProgramDriver
import ReaderClient
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

/// The command line with items of every class and program.
@Suite("Items of every class and access group")
struct EveryItemTests {
  private static let notes = "com.example.notes"
  private static let browser = "com.example.browser"

  /// A store with an item of the command line and items of other programs. Each secret is the item's description here.
  private func withItems(_ body: (TestStore, [String: ItemID]) async throws -> Void) async throws {
    try await TestStore.with { store in
      try await store.set("mail/alice", "own", "--access", "none")
      let vault = try Vault(
        at: store.directory,
        desk: ReaderDesk(ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic)))
      var ids: [String: ItemID] = [:]
      func add(_ description: String, _ itemClass: ItemClass, _ group: String, _ texts: [AttributeName: String])
        async throws
      {
        var attributes = texts.mapValues { AttributeValue.text($0) }
        attributes[.accessGroup] = .text(group)
        let secret = SecretBytes(copying: Array(description.utf8).span)
        ids[description] = try await vault.add(NewItem(itemClass, attributes), secret: secret, in: nil).id
      }
      let alice: [AttributeName: String] = [.service: "mail", .account: "alice"]
      try await add("theirs", .genericPassword, Self.notes, alice)
      try await add("account alone", .genericPassword, Self.notes, [.account: "bob"])
      try await add("web", .internetPassword, Self.browser, [.server: "example.com", .account: "alice"])
      try await add("key", .key, Self.notes, [.label: "signing"])
      try await add("tagged key", .key, Self.notes, [.applicationTag: "com.example.tag"])
      try await add("first", .genericPassword, Self.notes, [.service: "twice"])
      try await add("second", .genericPassword, Self.browser, [.service: "twice"])
      try await add("nameless", .genericPassword, Self.browser, [:])
      try await body(store, ids)
    }
  }

  private func spoken(_ id: ItemID?) throws -> String {
    let bytes = try #require(id).bytes
    return "id:" + Hexadecimal.text(of: bytes)
  }

  private func rows(_ store: TestStore, _ words: String...) async throws -> [[String]] {
    let listed = try await Invocation(arguments: store.arguments(["ls"] + words)).run()
    #expect(listed.status == 0, "\(listed.diagnostics)")
    return listed.text.split(separator: "\n").map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }
  }

  @Test("ls prints class, group and name of every item, and status counts the same items")
  func list() async throws {
    try await withItems { store, ids in
      let all = try await rows(store)
      #expect(
        all.map { $0.prefix(3).joined(separator: " ") } == [
          "mail/alice generic-password whorl", "mail/alice generic-password \(Self.notes)",
          "/bob generic-password \(Self.notes)", "example.com/alice internet-password \(Self.browser)",
          "signing key \(Self.notes)", "com.example.tag key \(Self.notes)", "twice generic-password \(Self.notes)",
          "twice generic-password \(Self.browser)", " generic-password \(Self.browser)",
        ])
      #expect(all[1][3] == (try spoken(ids["theirs"])))
      #expect(try await store.whorl("status").text.contains("items     \(all.count)\n"))
      func names(_ words: String...) async throws -> [String] {
        let listed = try await Invocation(arguments: store.arguments(["ls"] + words)).run()
        return listed.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
      }
      #expect(try await names("--class", "key") == ["signing", "com.example.tag"])
      #expect(try await names("--group", "whorl") == ["mail/alice"])
      #expect(try await names("--class", "generic-password", "--group", Self.notes) == ["mail/alice", "/bob", "twice"])
      #expect(try await names("example.com") == ["example.com/alice"])
      #expect(try await names("*alice") == ["mail/alice", "mail/alice", "example.com/alice"])
      #expect(try await names("--class", "certificate") == [])
      #expect(try await store.whorl("ls", "--class", "what").status == 64)
      let json = try await store.whorl("ls", "--json", "signing").text
      for part in [#""class":"key""#, #""group":"\#(Self.notes)""#, #""name":"signing""#, #""state":"living""#] {
        #expect(json.contains(part), "\(json)")
      }
      #expect(!json.contains("service"), "a key has none: \(json)")
    }
  }

  @Test("ls with a name lists the items of every class that have it")
  func listedByName() async throws {
    try await withItems { store, ids in
      try await store.set("com.example.tag", "own", "--access", "none")
      try await store.set("signing", "own", "--access", "none")
      for (name, other) in [("com.example.tag", "tagged key"), ("signing", "key"), ("mail", "theirs")] {
        let lines = try await store.whorl("ls", name).text.split(separator: "\n")
        #expect(lines.count == 2, "\(lines)")
        #expect(lines.contains { $0.hasSuffix((try? spoken(ids[other])) ?? "no id") }, "\(lines)")
      }
      #expect(try await store.whorl("ls", "/bob").text.hasPrefix("/bob\t"))
      #expect(try await store.whorl("ls", spoken(ids["nameless"])).text.hasSuffix("\(spoken(ids["nameless"]))\n"))
      #expect(try await store.whorl("ls", "nobody").output.isEmpty)
    }
  }

  @Test("get finds every item, prefers the command line's own, and refuses a name that several others share")
  func get() async throws {
    try await withItems { store, ids in
      func got(_ words: String...) async throws -> String {
        let result = try await Invocation(arguments: store.arguments(["get"] + words)).run()
        return result.status == 0 ? result.text : "\(result.status)"
      }
      #expect(try await got("mail/alice") == "own")
      #expect(try await got("mail/alice", "--group", Self.notes) == "theirs")
      #expect(try await got("/bob") == "account alone")
      #expect(try await got("example.com/alice") == "web")
      #expect(try await got("example.com/alice", "--class", "generic-password") == "66")
      #expect(try await got("twice", "--group", Self.browser) == "second")
      for (description, id) in ids { #expect(try await got(spoken(id)) == description) }
      #expect(try await got("mail/alice", spoken(ids["web"])) == "own\nweb")
      #expect(try await got("id:\(String(repeating: "0", count: 32))") == "66")
      #expect(try await got("") == "64")
      let refused = try await store.whorl("get", "twice")
      #expect(refused.status == 64)
      #expect(refused.output.isEmpty)
      #expect(
        refused.diagnostics == "whorl: get: twice means several items: password in group \(Self.notes), "
          + "password in group \(Self.browser): narrow it with --class and --group, or name one by its id, which "
          + "--verbose shows\n")
      let verbose = try await store.whorl("get", "twice", "--verbose")
      for id in ["first", "second"] { #expect(verbose.diagnostics.contains(try spoken(ids[id]))) }
    }
  }

  @Test("the secret of a key is printed only if a key is asked for")
  func keys() async throws {
    try await withItems { store, ids in
      for words in [["get", "signing"], ["run", "--env", "K=signing", "--", "/bin/echo", "ran"]] {
        let refused = try await Invocation(arguments: store.arguments(words)).run()
        #expect(refused.status == 64)
        #expect(refused.output.isEmpty)
        #expect(refused.failure.contains("signing is a key"), "\(refused.failure)")
      }
      #expect(try await store.whorl("get", "signing", "--class", "key").text == "key")
      #expect(try await store.whorl("get", "com.example.tag", "--class", "key").text == "tagged key")
      #expect(try await store.whorl("get", spoken(ids["key"])).text == "key")
    }
  }

  @Test("whorl run fills environment variables from items of every kind")
  func run() async throws {
    try await withItems { store, ids in
      let result = try await store.whorl(
        "run", "--env", "A=mail/alice", "--env", "B=/bob", "--env", "C=example.com/alice", "--env",
        "D=\(spoken(ids["key"]))", "--", "/bin/sh", "-c", "echo $A,$B,$C,$D")
      #expect(result.text == "own,account alone,web,key\n", "\(result.diagnostics)")
    }
  }

  @Test("rm removes the command line's own item by name, and another program's only if its group is given")
  func remove() async throws {
    try await withItems { store, ids in
      #expect(try await store.whorl("rm", "mail/alice").status == 0)
      // The same command again must not remove the next best match.
      let again = try await store.whorl("rm", "mail/alice")
      #expect(again.status == 64)
      #expect(again.failure.contains("a password in group \(Self.notes)"), "\(again.failure)")
      let verbose = try await store.whorl("rm", "mail/alice", "--verbose")
      #expect(verbose.diagnostics.contains(try spoken(ids["theirs"])), "\(verbose.diagnostics)")
      #expect(again.diagnostics.split(separator: "\n").count == 1)
      for words in [
        ["example.com/alice"], ["twice"], [""], ["/bob", "--class", "key"], ["", "--group", Self.browser],
      ] {
        let refused = try await Invocation(arguments: store.arguments(["rm"] + words)).run()
        #expect(refused.status == 64 || refused.status == 66, "\(words)")
      }
      #expect(try await rows(store).count == 8)
      #expect(try await store.whorl("rm", "mail/alice", "--group", Self.notes).status == 0)
      #expect(try await store.whorl("rm", "example.com/alice", "--class", "internet-password").status == 0)
      #expect(try await store.whorl("rm", spoken(ids["nameless"]), spoken(ids["key"])).status == 0)
      #expect(try await rows(store).map { $0[0] } == ["/bob", "com.example.tag", "twice", "twice"])
    }
  }

  @Test("rm of a pattern matches only the command line's items, lists them, and waits for a yes")
  func removePattern() async throws {
    try await withItems { store, _ in
      try await store.set("mail/bob", "x", "--access", "none")
      let asked = try await store.whorl("rm", "m*")
      #expect(asked.status == 77)
      #expect(asked.diagnostics.contains("2 items will be removed:"), "\(asked.diagnostics)")
      #expect(asked.diagnostics.contains("  mail/bob: password in group whorl"), "\(asked.diagnostics)")
      #expect(try await rows(store).count == 10)
      #expect(try await store.whorl("rm", "none*", "--yes").status == 66)
      #expect(
        try await store.whorl("rm", "*", "--yes", "--json").text == #"{"removed":["mail/alice","mail/bob"]}"# + "\n")
      #expect(try await rows(store).count == 8)
      #expect(try await store.whorl("rm", "tw?ce", "--yes", "--group", Self.browser).status == 0)
      #expect(try await rows(store, "twice").map { $0[2] } == [Self.notes])
    }
  }
}
