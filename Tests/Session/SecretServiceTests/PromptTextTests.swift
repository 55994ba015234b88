import ProgramDriver
import SDBus
import SecretModel
import Testing

@Suite("Prompts for the Secret Service", .serialized)
struct PromptTextTests {
  @Test("a Secret Service prompt shows all items by label, without characters that could imitate a prompt")
  func labels() async throws {
    try await RunningSecretService.with { service in
      let desktop = try await DesktopStandIn(on: service.bus)
      defer { desktop.close() }
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      var items: [String] = []
      for label in ["a\u{202E}b", "", "50%", "d", "e"] {
        items.append(try await client.create("s", label: label, ["name": label], session: session))
        try await service.gate(label, .anyFinger)
      }
      let prompt = try await client.change("Unlock", items).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      let text = try await desktop.first().text
      let names = "“ab”, “a secret without a name”, “50%”, “d”, “e”"
      #expect(text.contains(" wants to read \(names). "), "\(text)")
      #expect(text.contains("\nProgram: /"), "\(text)")
    }
  }

  @Test("a Secret Service prompt shows a collection by label, without characters that could imitate a prompt")
  func collection() async throws {
    try await RunningSecretService.with { service in
      let desktop = try await DesktopStandIn(on: service.bus)
      defer { desktop.close() }
      let client = try await ServiceClient(service.bus)
      try await client.set(ServiceClient.login, "Collection", "Label", .string("a\u{202E}b"))
      _ = try await client.change("Lock", [ServiceClient.login])
      let prompt = try await client.change("Unlock", [ServiceClient.login]).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      let text = try await desktop.first().text
      #expect(text.contains(" wants to unlock “ab”. "), "\(text)")
    }
  }

  @Test("a Secret Service prompt shows all that the touch unlocks, with the items that the touch reads")
  func together() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await client.create("s", label: "Bank", ["a": "b"], session: session)
      let mail = try await client.create("t", label: "Mail", ["c": "d"], session: session)
      let made = try await client.call(
        ServiceClient.root, "Service", "CreateCollection",
        [.dictionary(["org.freedesktop.Secret.Collection.Label": .string("Office")]), .string("")])
      let office = try #require(made.first?.asObjectPath)
      try await service.gate("Bank", .anyFinger)
      _ = try await client.change("Lock", [office, mail])
      _ = try await client.show(try await client.change("Unlock", [bank, office, mail]).prompt)
      #expect(
        service.agent.prompts.first?.contains(" to read “Bank” and unlock “Office”, “Mail”. ") == true,
        "\(service.agent.prompts)")
      #expect(try await client.property(office, "Collection", "Locked") == .boolean(false))
      _ = try await client.change("Lock", [ServiceClient.login, office])
      // A collection that is named twice, and once more by an item in it, has one name in the prompt.
      let paths = [ServiceClient.login, office, ServiceClient.login, mail]
      _ = try await client.show(try await client.change("Unlock", paths).prompt)
      #expect(service.agent.prompts.last?.contains(" to unlock “Login”, “Office”. ") == true)
    }
  }

  @Test("a Secret Service prompt shows at most eight names, and more items are released with another prompt")
  func many() async throws {
    try await RunningSecretService.with([.right, .wrong, .wrong, .wrong]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      var items: [String] = []
      for number in 1...10 {
        items.append(try await client.create("s", label: "Item \(number)", ["n": "\(number)"], session: session))
        try await service.gate("Item \(number)", .anyFinger)
      }
      let shown = try await client.show(try await client.change("Unlock", items).prompt)
      #expect(shown.dismissed)
      let names = (1...10).map { "“Item \($0)”" }
      let prompts = service.agent.prompts
      #expect(prompts.first?.contains(" to read \(names[..<8].joined(separator: ", ")). ") == true, "\(prompts)")
      #expect(prompts.last?.contains(" to read “Item 9”, “Item 10”. ") == true, "\(prompts)")
      let found = try await client.search([:])
      #expect(Set(found.unlocked).isDisjoint(with: items[8...]), "what no touch has released")
    }
  }

  @Test("a Secret Service prompt shows the program before the label, and no label can imitate the program")
  func imitation() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let label = "Notes”. (program: /usr/bin/ssh)\n\u{202E}" + String(repeating: "x", count: 3_000)
      let item = try await client.create("s", label: label, ["a": "b"], session: session)
      try await service.gate(label, .anyFinger)
      _ = try await client.show(try await client.change("Unlock", [item]).prompt)
      let prompt = try #require(service.agent.prompts.first)
      #expect(prompt.contains(" wants to read “Notes. program: /usr/bin/ssh xxx"))
      #expect(prompt.contains("xxx”. Swipe the reader (virtual reader). (program: /"))
      #expect(!prompt.hasSuffix("(program: /usr/bin/ssh)"))
      #expect(prompt.count { $0 == "“" } == 1)
    }
  }

  @Test("a Secret Service prompt shows an item once that a program names twice")
  func twice() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await client.create("s", label: "Bank", ["a": "b"], session: session)
      try await service.gate("Bank", .anyFinger)
      let shown = try await client.show(try await client.change("Unlock", [bank, bank]).prompt)
      #expect(shown == (false, [bank, bank]))
      #expect(service.agent.prompts.first?.contains(" to read “Bank”. ") == true, "\(service.agent.prompts)")
    }
  }

  @Test("a Secret Service prompt is shown once if a program calls Prompt twice")
  func shownAgain() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await client.create("s", label: "Bank", ["a": "b"], session: session)
      try await service.gate("Bank", .anyFinger)
      let prompt = try await client.change("Unlock", [bank]).prompt
      for _ in 1...2 { try await client.call(prompt, "Prompt", "Prompt", [.string("")]) }
      try await service.agent.waits { $0.contains { $0.contains(". Swipe the reader") } }
      try await client.call(prompt, "Prompt", "Dismiss")
      #expect(try await client.completed(prompt) == (true, []))
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Bank”") } }
      #expect(service.agent.prompts.count == 1)
    }
  }

  @Test("a notification escapes an item's label, and cannot be answered by other programs than the desktop")
  func notification() async throws {
    try await RunningSecretService.with { service in
      let desktop = try await DesktopStandIn(on: service.bus)
      defer { desktop.close() }
      let (client, hostile) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let session = try await client.plainSession()
      let bank = try await client.create("s", label: "A &lt; <b>", ["a": "b"], session: session)
      try await service.gate("A &lt; <b>", .anyFinger)
      let prompt = try await client.change("Unlock", [bank]).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      let shown = try await desktop.first()
      #expect(shown.text.contains("“A &amp;lt; b”"), "\(shown.text)")
      desktop.dismiss(shown.number + 1)
      let names = try await hostile.connection.call(MessageBus.target, "ListNames").first?.asArray ?? []
      for name in names.compactMap(\.asString) where name.hasPrefix(":") {
        hostile.connection.emit(
          BusTarget(
            destination: name, path: "/org/freedesktop/Notifications", interface: "org.freedesktop.Notifications"),
          "ActionInvoked", [.uint32(shown.number), .string("cancel")])
      }
      _ = try await hostile.search([:])
      try await Task.sleep(for: .milliseconds(500))
      #expect(!service.agent.lines.contains { $0.contains("refused to read") })
      desktop.choose("cancel", of: shown.number)
      #expect(try await client.completed(prompt) == (true, []))
    }
  }

  @Test("pinentry shows an item's label unchanged, also with characters that the Assuan protocol decodes")
  func pinentry() async throws {
    let script = """
      #!/bin/sh
      echo OK
      while read -r word rest; do
        case $word in GETPIN) echo "D \(TestStore.passcode)" ;; *) echo "$word $rest" >>"${PATH%%:*}/asked" ;; esac
        echo OK
      done
      """
    try await RunningSecretService.with(pinentry: script) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await client.create("s", label: "50%41", ["a": "b"], session: session)
      try await service.gate("50%41", .passcode)
      #expect(try await client.secret(bank, session: session).text == "s")
      let asked = String(decoding: try readFile("\(service.store.folder)/asked"), as: UTF8.self)
      #expect(asked.contains(" wants to read “50%2541”. Enter your Whorl passcode.%0A%0AProgram: /"), "\(asked)")
    }
  }
}
