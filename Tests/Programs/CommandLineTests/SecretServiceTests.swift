import FoundationEssentials
import ProgramDriver
import Testing

/// The output of `whorl secret-service list --json`.
private struct Listed: Decodable {
  struct Folder: Decodable, Equatable {
    var name: String
    var label: String
    var access: String
    var oncePerSession: Bool
  }

  struct Item: Decodable {
    var id: String
    var collection: String
    var label: String
    var attributes: [String: String]
    var contentType: String
    var access: String
    var oncePerSession: Bool
    var state: String
  }

  var collections: [Folder]
  var programs: [Folder]
  var items: [Item]
}

@Suite("whorl secret-service: items and their rules")
struct SecretServiceTests {
  private static let wallet = "/org/freedesktop/secrets/collection/kdewallet"
  private static let work = "/org/freedesktop/secrets/collection/work"
  private static let session = "/org/freedesktop/secrets/collection/session"
  private static let items = [
    SecretServiceStandIn.Item(
      label: "Mail", attributes: ["service": "mail", "user": "alice"], secret: Array("of the mail".utf8),
      collection: wallet),
    SecretServiceStandIn.Item(
      label: "Token", attributes: ["app_id": "org.example.App", "xdg:schema": "org.freedesktop.portal.Secret"],
      secret: [0xFF, 0, 0x0A], contentType: "application/octet-stream", collection: wallet),
    SecretServiceStandIn.Item(label: "Empty", attributes: ["service": "none"], secret: [], collection: work),
    // Two items that differ only in their labels.
    SecretServiceStandIn.Item(label: "Note", attributes: [:], secret: Array("one".utf8), collection: work, created: 2),
    SecretServiceStandIn.Item(label: "Other", attributes: [:], secret: Array("two".utf8), collection: work, created: 1),
    SecretServiceStandIn.Item(label: "Passing", attributes: ["a": "b"], secret: [1], collection: session),
  ]

  /// Runs the body with a store, a bus on which the items are served, and a run of whorl with both.
  private func with(
    prompt: SecretServiceStandIn.Prompt = .none, isWhorl: Bool = false, isEnrolled: Bool = false,
    _ items: [SecretServiceStandIn.Item] = Self.items,
    _ body: (TestStore, (String...) async throws -> Invocation.Result) async throws -> Void
  ) async throws {
    func whenOpen(_ store: TestStore) async throws {
      try await PrivateBus.with { bus in
        let service = try await SecretServiceStandIn(
          on: bus, prompt: prompt, aliases: ["default": Self.wallet, "session": Self.session], isWhorl: isWhorl, items)
        defer { service.close() }
        try await body(store) { (words: String...) in
          try await Invocation(
            arguments: store.arguments(["secret-service"] + words),
            environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
          ).run()
        }
      }
    }
    if isEnrolled { try await TestStore.enrolled(whenOpen) } else { try await TestStore.with(whenOpen) }
  }

  private func list(_ whorl: (String...) async throws -> Invocation.Result) async throws -> Listed {
    let result = try await whorl("list", "--json")
    #expect(result.status == 0, "\(result.diagnostics)")
    return try JSONDecoder().decode(Listed.self, from: Data(result.output))
  }

  @Test("whorl secret-service ungate with a given passcode does not wait for a touch")
  func passcodeAtOnce() async throws {
    try await with(isEnrolled: true) { store, whorl in
      try await whorl("import").mustSucceed()
      let words = ["--attribute", "service=mail", "--yes"]
      try await Invocation(
        arguments: store.arguments(["secret-service", "gate", "--access", "presence"] + words)
      ).run().mustSucceed()
      try await Invocation(
        arguments: store.arguments(["secret-service", "ungate", "--passcode-fd", "3"] + words) + store.reader,
        descriptors: [TestStore.passcode + "\n"]
      ).run().mustSucceed()
    }
  }

  @Test("secret-service import copies collections, labels, attributes, content types and secrets, without a rule")
  func copy() async throws {
    try await with { store, whorl in
      let told = try await whorl("import", "--dry-run")
      #expect(told.status == 0, "\(told.diagnostics)")
      #expect(told.diagnostics.hasPrefix("Would copy 5 items:\n  login: Mail\n"), "\(told.diagnostics)")
      #expect(try await list(whorl).items.isEmpty)

      let done = try await whorl("import")
      #expect(done.status == 0 && done.diagnostics.hasPrefix("Copied 5 items.\nThe originals are still in /"))
      #expect(
        done.failure.hasSuffix(
          ", where every program can read them without a finger. To remove them: whorl secret-service import --remove-old"
        ), "\(done.diagnostics)")
      let listed = try await list(whorl)
      // The default collection is imported as the default one, and the session collection is not imported.
      #expect(
        listed.collections.map { [$0.name, $0.label] } == [
          ["login", "Label of \(Self.wallet)"], ["work", "Label of \(Self.work)"],
        ])
      #expect(listed.items.map(\.label) == ["Mail", "Token", "Empty", "Note", "Other"])
      #expect(listed.items.map(\.collection) == ["login", "login", "work", "work", "work"])
      #expect(listed.items.allSatisfy { $0.access == "none" && $0.state == "living" })
      for (item, expected) in zip(listed.items, Self.items) {
        #expect(item.attributes == expected.attributes)
        #expect(item.contentType == expected.contentType)
        #expect(try await store.whorl("get", item.id).output == expected.secret)
      }
    }
  }

  @Test("a second secret-service import creates no duplicates and changes nothing")
  func again() async throws {
    try await with { store, whorl in
      try await whorl("import").mustSucceed()
      try await whorl("gate", "--item", "Mail", "--access", "passcode", "--yes").mustSucceed()
      let other = try #require(try await list(whorl).items.first { $0.label == "Other" })
      try await store.whorl("rm", other.id).mustSucceed()
      let again = try await whorl("import", "--json")
      #expect(again.text.contains(#""brought":[{"collection":"work","label":"Other"}]"#), "\(again.text)")
      let listed = try await list(whorl)
      #expect(listed.items.count == 5)
      #expect(listed.items.first { $0.label == "Mail" }?.access == "passcode")
      let third = try await whorl("import")
      #expect(
        third.diagnostics.hasPrefix(
          """
          Copied 0 items.
          5 items of it are in the store already, unchanged.
          1 of these was not compared, because of a rule here or since the other program does not give it out.
          The originals are still in
          """), "\(third.diagnostics)")
    }
  }

  @Test("secret-service import recognizes an item with a new label in the other program, and keeps the old label")
  func renamed() async throws {
    try await TestStore.with { store in
      for (label, expected) in [("Before", "Copied 1 item.\n"), ("After", "Copied 0 items.\n")] {
        try await PrivateBus.with { bus in
          let item = SecretServiceStandIn.Item(label: label, attributes: ["a": "b"], secret: [1])
          let service = try await SecretServiceStandIn(on: bus, [item])
          let places = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
          let copied = try await store.whorl("secret-service", "import", environment: places)
          #expect(copied.diagnostics.hasPrefix(expected), "\(copied.diagnostics)")
          service.close()
        }
      }
      let listed = try await store.whorl("secret-service", "list").text
      #expect(listed.contains("\tBefore\t") && !listed.contains("\tAfter\t"), "\(listed)")
    }
  }

  @Test("the session bus address is parsed in full: alternatives, guid and escaped bytes")
  func busAddress() async throws {
    try await TestStore.with { store in
      try await PrivateBus.with { bus in
        let item = SecretServiceStandIn.Item(label: "One", attributes: ["a": "b"], secret: [1])
        let service = try await SecretServiceStandIn(on: bus, [item])
        defer { service.close() }
        let escaped = bus.address.replacing("/bus", with: "%2fbus")
        let address =
          "tcp:host=nowhere,port=1;unix:path=/nonexistent/bus;\(escaped),guid=b81ccf1e1f4ba1d2c9c0d9be6565f6a5"
        let places = ["DBUS_SESSION_BUS_ADDRESS": address]
        let copied = try await store.whorl("secret-service", "import", environment: places)
        #expect(copied.diagnostics.hasPrefix("Copied 1 item."), "\(copied.diagnostics)")
      }
    }
  }

  @Test("items of secret-service import get the named rule, or that of their collection")
  func ruled() async throws {
    try await with { _, whorl in
      try await whorl("import", "--access", "presence").mustSucceed()
      #expect(try await list(whorl).items.allSatisfy { $0.access == "presence" })
    }
    try await with { _, whorl in
      try await whorl(
        "gate", "--collection", "Login", "--access", "passcode", "--once-per-session", "--yes"
      ).mustSucceed()
      try await whorl("import").mustSucceed()
      let listed = try await list(whorl)
      #expect(
        listed.items.filter { $0.collection == "login" }.allSatisfy { $0.access == "passcode" && $0.oncePerSession })
      #expect(listed.items.filter { $0.collection == "work" }.allSatisfy { $0.access == "none" && !$0.oncePerSession })
    }
  }

  @Test("secret-service import reports an item that the other program does not release, and copies the others")
  func refused() async throws {
    let items = [
      SecretServiceStandIn.Item(label: "Refused", attributes: ["a": "1"], secret: nil),
      SecretServiceStandIn.Item(label: "Given", attributes: ["a": "2"], secret: [1]),
    ]
    try await with(prompt: .accepted, items) { _, whorl in
      let done = try await whorl("import")
      #expect(done.status == 0)
      #expect(
        done.diagnostics.hasPrefix(
          """
          Copied 1 item.
          1 item stayed where it is:
            Refused: it is not given out: It is locked
          The originals are still in
          """), "\(done.diagnostics)")
      #expect(try await list(whorl).items.map(\.label) == ["Given"])
    }
    try await with(prompt: .dismissed, items) { _, whorl in
      let done = try await whorl("import", "--json")
      #expect(done.text.contains(#""item":"collection Login","reason":"stayed locked""#), "\(done.text)")
      #expect(try await list(whorl).items.isEmpty)
    }
  }

  @Test("whorl secret-service import from Whorl's own service is refused")
  func own() async throws {
    try await with(isWhorl: true) { _, whorl in
      let refused = try await whorl("import")
      #expect(refused.status == 77)
      #expect(refused.failure.contains("Whorl itself is the Secret Service"), "\(refused.failure)")
      #expect(try await list(whorl).items.isEmpty)
    }
  }

  @Test("secret-service gate and ungate find items by label, id and attributes, and ask what the old rule asks")
  func gateItems() async throws {
    try await with { store, whorl in
      try await whorl("import").mustSucceed()
      let before = try await list(whorl)
      let token = try #require(before.items.first { $0.label == "Token" })
      let told = try await whorl("gate", "--item", "Mail", "--access", "passcode", "--dry-run")
      #expect(
        told.diagnostics.hasPrefix(
          """
          1 item would need the passcode:
            Mail (service=mail, user=alice): now nothing
          Copied from /
          """), "\(told.diagnostics)")
      #expect(told.failure.contains(": “Mail”. If the originals are still there, "), "\(told.diagnostics)")
      let unasked = try await whorl("gate", "--item", "Mail", "--access", "passcode")
      #expect(unasked.status == 77 && unasked.failure.contains("this has to be confirmed"), "\(unasked.failure)")
      #expect(try await list(whorl).items.allSatisfy { $0.access == "none" })

      try await whorl("gate", "--item", "Mail", "--item", token.id, "--access", "passcode", "--yes").mustSucceed()
      #expect(try await list(whorl).items.map(\.access) == ["passcode", "passcode", "none", "none", "none"])
      #expect(try await store.whorl("get", token.id).status == 77)
      let same = try await whorl("gate", "--item", "Mail", "--access", "passcode")
      #expect(same.status == 0 && same.diagnostics == "Nothing to change.\n", "\(same.diagnostics)")
      let longer = try await whorl(
        "gate", "--item", "Mail", "--access", "passcode", "--once-per-session", "--dry-run", "--json")
      #expect(longer.text.contains(#""oncePerSession":true"#) && longer.text.contains(#""label":"Mail""#))

      let asked = try await whorl("ungate", "--attribute", "service=mail", "--attribute", "user=alice", "--yes")
      #expect(asked.status == 77, "\(asked.diagnostics)")
      #expect(try await list(whorl).items.first?.access == "passcode")
      let allowed = try await store.unlocked(
        "secret-service", "ungate", "--attribute", "service=mail", "--attribute", "user=alice", "--yes")
      #expect(allowed.status == 0, "\(allowed.diagnostics)")
      #expect(allowed.failure == "1 item needs nothing now.", "\(allowed.failure)")
      #expect(try await list(whorl).items.map(\.access) == ["none", "passcode", "none", "none", "none"])
      #expect(try await store.whorl("get", before.items[0].id).text == "of the mail")
    }
  }

  @Test("whorl secret-service gate warns if another program is still the session's Secret Service, and only then")
  func gateBesideAnother() async throws {
    let line = "In this session programs still have their secrets from /"
    for isWhorl in [false, true] {
      try await with(isWhorl: isWhorl) { _, whorl in
        let done = try await whorl("gate", "--program", "/usr/bin/evolution", "--yes")
        #expect(done.status == 0 && done.diagnostics.contains(line) == !isWhorl, "\(done.diagnostics)")
        let planned = try await whorl("gate", "--program", "/usr/bin/secret-tool", "--dry-run")
        #expect(planned.status == 0 && !planned.diagnostics.contains(line), "\(planned.diagnostics)")
        let back = try await whorl("ungate", "--program", "/usr/bin/evolution", "--yes")
        #expect(back.status == 0 && !back.diagnostics.contains(line), "\(back.diagnostics)")
      }
    }
  }

  @Test("whorl secret-service gate ignores the case of labels, and its default rule is a finger or the passcode")
  func gateByLabel() async throws {
    let items = ["Bank", "bank", "Mail"].map {
      SecretServiceStandIn.Item(label: $0, attributes: ["name": $0], secret: [1])
    }
    try await with(items) { store, whorl in
      try await whorl("import").mustSucceed()
      func access() async throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try await list(whorl).items.map { ($0.label, $0.access) })
      }
      let done = try await whorl("gate", "MAIL", "--yes")
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(try await access() == ["Bank": "none", "bank": "none", "Mail": "presence"])
      // An exact match of the label selects only that item.
      try await whorl("gate", "Bank", "--access", "passcode", "--yes").mustSucceed()
      #expect(try await access() == ["Bank": "passcode", "bank": "none", "Mail": "presence"])
      let several = try await whorl("gate", "BANK", "--yes")
      #expect(several.status == 64 && several.failure.contains("BANK means several items"), "\(several.diagnostics)")
      let lines = several.diagnostics.split(separator: "\n")
      #expect(lines.first == "BANK means 2 items:" && lines.count == 4, "\(several.diagnostics)")
      let ids = try await list(whorl).items.filter { $0.label != "Mail" }.map(\.id)
      for id in ids { #expect(several.diagnostics.contains("  \(id)  collection: "), "\(several.diagnostics)") }
      #expect(try await access() == ["Bank": "passcode", "bank": "none", "Mail": "presence"])
      try await store.unlocked("secret-service", "ungate", "mail", "Bank", "--yes").mustSucceed()
      #expect(try await access().values.allSatisfy { $0 == "none" })
    }
  }

  @Test("whorl secret-service gate sets the rule of a collection's items and new ones, and that of a program")
  func gateFolders() async throws {
    try await with { store, whorl in
      try await whorl("import").mustSucceed()
      let done = try await whorl("gate", "--collection", "work", "--access", "passcode", "--yes")
      #expect(
        done.diagnostics.contains(
          "3 items need the passcode now.\nNew items of the collection work need the passcode.\nCopied from "),
        "\(done.diagnostics)")
      var listed = try await list(whorl)
      #expect(listed.collections.map(\.access) == ["none", "passcode"])
      #expect(listed.collections.map(\.label) == ["Label of \(Self.wallet)", "Label of \(Self.work)"])
      #expect(listed.items.map(\.access) == ["none", "none", "passcode", "passcode", "passcode"])

      try await whorl(
        "gate", "--program", "/bin/../bin/sh", "--access", "presence", "--once-per-session", "--yes"
      ).mustSucceed()
      listed = try await list(whorl)
      #expect(listed.programs.count == 1)
      let program = try #require(listed.programs.first)
      // The path as the kernel tells it.
      #expect(program.name.hasPrefix("/") && !program.name.contains(".."), "\(program.name)")
      #expect(program.access == "presence" && program.oncePerSession)
      let text = try await whorl("list").text
      #expect(text.contains("program\t\(program.name)\t\t\tpresence, once a session\t\n"), "\(text)")
      #expect(text.contains("collection\twork\tLabel of \(Self.work)\t\tpasscode\t\n"))

      try await whorl("ungate", "--program", program.name, "--yes").mustSucceed()
      #expect(try await list(whorl).programs.isEmpty)
      #expect(try await whorl("ungate", "--collection", "work", "--yes").status == 77)
      #expect(try await list(whorl).collections.last?.access == "passcode", "nothing changed")
      try await store.unlocked("secret-service", "ungate", "--collection", "work", "--yes").mustSucceed()
      listed = try await list(whorl)
      #expect(listed.collections.map(\.access) == ["none", "none"])
      #expect(listed.items.allSatisfy { $0.access == "none" })
    }
  }

  @Test("one passcode changes the rule of more Secret Service items than fit in one call")
  func many() async throws {
    let items = (0...1_000).map { SecretServiceStandIn.Item(label: "\($0)", attributes: ["n": "\($0)"], secret: [1]) }
    try await with(items) { store, whorl in
      try await whorl("import", "--access", "passcode").mustSucceed()
      let opened = try await store.unlocked("secret-service", "ungate", "--collection", "collection", "--yes")
      #expect(opened.failure == "1001 items need nothing now.", "\(opened.diagnostics)")
      #expect(try await list(whorl).items.count { $0.access == "none" } == 1_001)
    }
  }

  @Test("completion offers labels and collections to secret-service gate, and no Secret Service items to get")
  func completion() async throws {
    try await with { store, whorl in
      try await whorl("import").mustSucceed()
      try await store.set("mail/alice", "own")
      func completed(_ words: String...) async throws -> [String] {
        let asked = ["---completion"] + words + ["--store", store.directory, ""]
        return try await Invocation(arguments: asked).run().text.split(separator: "\n").map(String.init)
      }
      #expect(try await completed("get", "--", "positional@0", "1", "0", "whorl", "get") == ["mail/alice"])
      #expect(
        try await completed("secret-service", "gate", "--", "--collection", "1", "0", "whorl") == ["login", "work"])
      #expect(
        try await completed("secret-service", "gate", "--", "--item", "1", "0", "whorl") == [
          "Empty", "Mail", "Note", "Other", "Token",
        ])
      // A rule is taken from a program that has one.
      #expect(try await completed("secret-service", "ungate", "--", "--program", "1", "0", "whorl") == [])
      try await whorl("gate", "--program", "/none/mail", "--access", "presence", "--yes").mustSucceed()
      #expect(try await completed("secret-service", "ungate", "--", "--program", "1", "0", "whorl") == ["/none/mail"])
    }
  }

  @Test("the option --store may stand before the name of a command group")
  func leadingOptions() async throws {
    try await TestStore.with { store in
      let words = ["--store", store.directory, "secret-service", "list"]
      let listed = try await Invocation(arguments: words).run()
      #expect(listed.text == "collection\tlogin\tLogin\t\tnone\t\n", "\(listed.diagnostics)")
    }
  }

  @Test("whorl secret-service gate with an unknown or ambiguous name changes nothing")
  func misnamed() async throws {
    let twins = (1...2).map { SecretServiceStandIn.Item(label: "Twin", attributes: ["n": "\($0)"], secret: [1]) }
    try await with(twins) { _, whorl in
      try await whorl("import").mustSucceed()
      let bad: [([String], Int32, String)] = [
        (["--item", "Twin"], 64, "Twin means several items, which are listed above"),
        (["--item", "None"], 66, "no item None"),
        (["--attribute", "n=3"], 66, "no item with n=3"),
        (["--attribute", "n"], 64, "--attribute takes NAME=VALUE"),
        (["--collection", "none"], 66, "no collection none"),
        (["--program", "sh"], 64, "--program takes a full path"),
        (["--item", "Twin", "--collection", "login"], 64, "Name items by their labels"),
        ([], 64, "Name items by their labels"),
      ]
      for (words, status, line) in bad {
        let result = try await self.gate(words, whorl)
        #expect(result.status == status && result.failure.contains(line), "\(words): \(result.diagnostics)")
      }
      let vain = try await whorl("gate", "--item", "Twin", "--access", "none", "--once-per-session")
      #expect(vain.status == 64 && vain.failure.contains("--once-per-session goes with"), "\(vain.failure)")
      #expect(try await list(whorl).items.allSatisfy { $0.access == "none" })
    }
  }

  private func gate(
    _ words: [String], _ whorl: (String...) async throws -> Invocation.Result
  ) async throws -> Invocation.Result {
    switch words.count {
    case 0: try await whorl("gate", "--access", "presence", "--yes")
    case 2: try await whorl("gate", words[0], words[1], "--access", "presence", "--yes")
    default: try await whorl("gate", words[0], words[1], words[2], words[3], "--access", "presence", "--yes")
    }
  }
}
