import ProgramDriver
import Testing

@Suite("whorl secret-service import: items that the store has with another secret")
struct SecretServiceReplaceTests {
  private static func items(_ word: String) -> [SecretServiceStandIn.Item] {
    [
      SecretServiceStandIn.Item(
        label: "Application key",
        attributes: ["app_id": "org.example.App", "xdg:schema": "org.freedesktop.portal.Secret"],
        secret: Array("token \(word)".utf8), contentType: "application/octet-stream"),
      SecretServiceStandIn.Item(label: "Mail", attributes: ["a": "1"], secret: Array("mail \(word)".utf8)),
      SecretServiceStandIn.Item(label: "Same", attributes: ["a": "2"], secret: Array("same".utf8)),
    ]
  }

  /// Runs an import from a service with these items.
  private func importing(
    _ items: [SecretServiceStandIn.Item], to store: TestStore, _ words: String...
  ) async throws -> Invocation.Result {
    var result: Invocation.Result?
    try await PrivateBus.with { bus in
      let service = try await SecretServiceStandIn(on: bus, aliases: ["default": "/collection"], items)
      result = try await Invocation(
        arguments: store.arguments(["secret-service", "import"] + words),
        environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address]
      ).run()
      service.close()
    }
    return try #require(result)
  }

  /// The id of the store's item with this label.
  private func id(_ label: String, in store: TestStore) async throws -> String {
    let lines = try await store.whorl("secret-service", "list").text.split(separator: "\n")
    let line = try #require(lines.first { $0.contains("\t\(label)\t") })
    return try #require(line.split { $0 == "\t" || $0 == " " }.map(String.init).first { $0.hasPrefix("id:") })
  }

  @Test("secret-service import names items whose secret differs, with their sandboxed program, and changes none")
  func told() async throws {
    try await TestStore.with { store in
      try await importing(Self.items("anew"), to: store).mustSucceed()
      for words in [[], ["--dry-run"]] {
        let told =
          words.isEmpty
          ? try await importing(Self.items("before"), to: store)
          : try await importing(Self.items("before"), to: store, words[0])
        #expect(
          told.diagnostics.hasPrefix(
            """
            \(words.isEmpty ? "Copied" : "Would copy") 0 items.
            3 items of it are in the store already, unchanged.
            2 of these have another secret here; --replace takes the other program's:
              login: Application key, the secret of org.example.App
              login: Mail

            """), "\(told.diagnostics)")
      }
      #expect(try await store.whorl("get", id("Mail", in: store)).text == "mail anew")
    }
  }

  @Test("whorl secret-service import --replace takes the other program's secret, and keeps rules and labels")
  func replaced() async throws {
    try await TestStore.with { store in
      try await importing(Self.items("anew"), to: store).mustSucceed()
      let gate = ["secret-service", "gate", "--item", "Mail", "--access", "passcode", "--yes"]
      try await Invocation(arguments: store.arguments(gate)).run().mustSucceed()
      let (token, mail) = (try await id("Application key", in: store), try await id("Mail", in: store))

      let told = try await importing(Self.items("before"), to: store, "--replace", "--dry-run")
      #expect(told.diagnostics.contains("\nWould replace the secret of 2 items:\n"), "\(told.diagnostics)")
      #expect(try await store.whorl("get", token).text == "token anew")

      let done = try await importing(Self.items("before"), to: store, "--replace")
      #expect(
        done.diagnostics.hasPrefix(
          """
          Copied 0 items.
          Replaced the secret of 2 items:
            login: Application key, the secret of org.example.App
            login: Mail
          1 item of it is in the store already, unchanged.

          """), "\(done.diagnostics)")
      #expect(try await store.whorl("get", token).text == "token before")
      let kept = try await id("Mail", in: store)
      #expect(try await store.whorl("get", kept).status == 77, "its rule is kept")
      #expect(try await store.unlocked("get", kept).text == "mail before")
      #expect(kept == mail, "it is the same item")
      let again = try await importing(Self.items("before"), to: store, "--replace", "--json")
      #expect(again.text.contains(#""differing":[]"#) && again.text.contains(#""brought":[]"#), "\(again.text)")
    }
  }

  @Test("secret-service import does not compare or replace a secret that the other program does not release")
  func ungiven() async throws {
    try await TestStore.with { store in
      try await importing(Self.items("anew"), to: store).mustSucceed()
      var items = Self.items("anew")
      items[1].secret = nil
      let told = try await importing(items, to: store)
      #expect(told.diagnostics.contains("\n1 of these was not compared, "), "\(told.diagnostics)")
      let kept = try await importing(items, to: store, "--replace", "--json")
      #expect(kept.text.contains(#""staying":[{"item":"Mail""#), "\(kept.text)")
      #expect(try await store.whorl("get", id("Mail", in: store)).text == "mail anew")
    }
  }
}
