import ProgramDriver
import Testing

@Suite("whorl secret-service disable: items that were stored in Whorl meanwhile")
struct SecretServiceReturnTests {
  private static func item(
    _ label: String, _ secret: String, collection: String = "/collection", modified: UInt64 = 0
  ) -> SecretServiceStandIn.Item {
    SecretServiceStandIn.Item(
      label: label, attributes: ["name": label], secret: Array(secret.utf8), collection: collection, modified: modified)
  }

  /// Runs a command with a service on the bus.
  ///
  /// - Returns: the service's items afterwards, by label.
  private func run(
    _ words: [String], _ store: TestStore, on items: [SecretServiceStandIn.Item],
    _ changes: SecretServiceStandIn.Changes = .made, prompt: SecretServiceStandIn.Prompt = .none,
    passcode: Bool = false
  ) async throws -> (Invocation.Result, [String: String], [SecretServiceStandIn.Item]) {
    try await PrivateBus.with { bus in
      let service = try await SecretServiceStandIn(
        on: bus, prompt: prompt, aliases: ["default": "/collection"], changes: changes, items)
      defer { service.close() }
      let words = ["secret-service"] + words
      let result = try await Invocation(
        arguments: store.arguments(passcode ? TestStore.withPasscode(words) : words),
        descriptors: passcode ? [TestStore.passcode + "\n"] : [],
        environment: [
          "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": store.folder, "XDG_CONFIG_HOME": "\(store.folder)/config",
          "XDG_DATA_HOME": "\(store.folder)/data",
        ]
      ).run()
      let left = service.items.compactMap(\.self)
      let secrets = Dictionary(
        left.map { ($0.label, String(decoding: $0.secret ?? [], as: UTF8.self)) }, uniquingKeysWith: { "\($0), \($1)" })
      return (result, secrets, left)
    }
  }

  /// A store that has these items of a Secret Service.
  private func with(
    _ items: [SecretServiceStandIn.Item], _ body: (TestStore) async throws -> Void
  ) async throws {
    try await TestStore.with { store in
      try await run(["import"], store, on: items).0.mustSucceed()
      try await body(store)
    }
  }

  @Test("secret-service disable copies new and changed items back, not over newer secrets and not in a dry run")
  func copied() async throws {
    try await with([Self.item("New", "a"), Self.item("Changed", "b"), Self.item("Newer", "c"), Self.item("Same", "d")])
    {
      store in
      let there = [
        Self.item("Changed", "old"), Self.item("Newer", "later", modified: 1 << 40), Self.item("Same", "d"),
        Self.item("Theirs", "e"),
      ]
      let (told, unchanged, _) = try await run(["disable", "--dry-run"], store, on: there)
      #expect(told.status == 0, "\(told.diagnostics)")
      #expect(told.diagnostics.contains(":\n  login: New\nWould change 1 item"), "\(told.diagnostics)")
      #expect(unchanged == ["Changed": "old", "Newer": "later", "Same": "d", "Theirs": "e"])

      let (done, after, items) = try await run(["disable"], store, on: there)
      #expect(done.status == 79, "\(done.diagnostics)")
      #expect(after == ["New": "a", "Changed": "b", "Newer": "later", "Same": "d", "Theirs": "e"])
      #expect(items.last?.attributes == ["name": "New"])
      for line in [
        "  Newer: it has another secret there, which is the newer one\n", "1 item is there already.\n",
        "keeps, 1 item:\n  login: Theirs\n", "Whorl keeps its own copies.\n",
      ] { #expect(done.diagnostics.contains(line), "\(done.diagnostics)") }
    }
  }

  @Test("whorl secret-service disable copies an item with a rule after the passcode, and else lists it")
  func gated() async throws {
    try await with([Self.item("Bank", "a"), Self.item("Mail", "b")]) { store in
      let gate = ["gate", "--item", "Bank", "--access", "passcode", "--yes"]
      try await run(gate, store, on: []).0.mustSucceed()
      let (told, _, _) = try await run(["disable", "--dry-run"], store, on: [])
      #expect(told.diagnostics.contains("would compare and copy 1 item:\n  login: Bank\n"))
      let (refused, some, _) = try await run(["disable"], store, on: [])
      #expect(refused.status == 79, "\(refused.diagnostics)")
      #expect(refused.diagnostics.contains("\nNot copied, as "), "\(refused.diagnostics)")
      #expect(refused.diagnostics.contains(" 1 item:\n  login: Bank\n"), "\(refused.diagnostics)")
      #expect(some == ["Mail": "b"])
      let (done, all, _) = try await run(["disable"], store, on: [], passcode: true)
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(all == ["Mail": "b", "Bank": "a"])
    }
  }

  @Test("secret-service disable loses nothing if the other program ends, and the next run copies the rest once")
  func interrupted() async throws {
    try await with((0..<6).map { Self.item("\($0)", "secret \($0)") }) { store in
      let (ended, some, items) = try await run(["disable"], store, on: [], .ending(after: 3))
      #expect(ended.status != 0, "\(ended.diagnostics)")
      #expect(some.count == 3)
      let (done, all, _) = try await run(["disable"], store, on: items)
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(all == Dictionary(uniqueKeysWithValues: (0..<6).map { ("\($0)", "secret \($0)") }))
    }
  }

  @Test("secret-service disable lists items that the other program refuses, changes or keeps locked: status 79")
  func unwritten() async throws {
    try await with([Self.item("Mail", "a")]) { store in
      let (refused, _, _) = try await run(["disable"], store, on: [], .refused)
      #expect(refused.status == 79 && refused.diagnostics.contains("  Mail: it was refused: Nothing is stored here\n"))
      let (spoiled, _, _) = try await run(["disable"], store, on: [], .spoiled)
      #expect(spoiled.status == 79 && spoiled.diagnostics.contains("  Mail: it differs there from what was written\n"))
      let (locked, none, _) = try await run(["disable"], store, on: [], prompt: .dismissed)
      #expect(locked.status == 79, "\(locked.diagnostics)")
      #expect(locked.diagnostics.contains("  Mail: it belongs to a collection that is still locked\n"))
      // No second collection of that name is requested.
      #expect(!locked.diagnostics.contains("no collection"), "\(locked.diagnostics)")
      #expect(none.isEmpty)
    }
  }

  @Test("secret-service disable without another program lists the items, and the command that copies them later")
  func alone() async throws {
    try await with([Self.item("Mail", "a")]) { store in
      let done = try await PrivateBus.with { bus in
        try await store.whorl(
          "secret-service", "disable",
          environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": store.folder, "XDG_CONFIG_HOME": "/none"])
      }
      #expect(done.status == 79, "\(done.diagnostics)")
      #expect(
        done.diagnostics.contains(
          "Only Whorl has:\n  login: Mail\nLog out and in, then copy them back with: whorl secret-service disable\n"),
        "\(done.diagnostics)")
    }
  }

  @Test("whorl secret-service import --remove-old removes an original only if its secret is the same in Whorl")
  func originals() async throws {
    let items = [Self.item("Same", "a"), Self.item("Other", "b")]
    try await with(items) { store in
      let there = [Self.item("Same", "a"), Self.item("Other", "another")]
      let (told, all, _) = try await run(["import", "--remove-old", "--dry-run"], store, on: there)
      #expect(told.diagnostics.contains("Would remove from "), "\(told.diagnostics)")
      #expect(all == ["Same": "a", "Other": "another"])
      let (done, left, _) = try await run(["import", "--remove-old", "--yes"], store, on: there)
      #expect(done.status == 0, "\(done.diagnostics)")
      #expect(left == ["Other": "another"])
      #expect(
        done.diagnostics.contains("\n  Other: it has another secret there than in Whorl\n"), "\(done.diagnostics)")
      let (json, _, _) = try await run(["import", "--json"], store, on: there)
      #expect(json.text.contains(#""there":["login: Same","login: Other"]"#), "\(json.text)")
    }
  }
}
