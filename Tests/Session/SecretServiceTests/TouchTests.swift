import Primitives
import ProgramDriver
import SDBus
import SecretModel
import Testing
import Whorl

@Suite("How long a touch is kept for items of the Secret Service", .serialized)
struct TouchTests {
  private static let tool = "/usr/bin/secret-tool"

  private func prompts(reading name: String, _ service: RunningSecretService) async throws -> Int {
    #expect(try await service.run(Self.tool, "lookup", "name", name).text == "of \(name)")
    return service.agent.prompts.count
  }

  @Test("a touch from before a rule became once per session does not last for the session")
  func before() async throws {
    try await RunningSecretService.with([.right, .right, .right, .right]) { service in
      for name in ["Chat", "Mail"] { try await service.storeWithTool("of \(name)", label: name, "name", name) }
      try await service.gate("Chat", .anyFinger)
      #expect(try await prompts(reading: "Chat", service) == 1)
      // Replace the item, since changing only its rule needs a touch.
      try await service.withStore { store in
        let found = try await store.items(SecretServiceItem.search(["name": "Chat"])).compactMap(SecretServiceItem.init)
        let chat = try #require(found.first)
        let session = SecretServiceItem.item(
          named: chat.name, in: chat.collection, label: chat.label, attributes: chat.attributes, access: chat.access,
          grant: .session)
        _ = try await store.put(session, secret: SharedSecret(SecretBytes(copying: Array("of Chat".utf8).span)))
      }
      #expect(try await prompts(reading: "Chat", service) == 2)
      #expect(try await prompts(reading: "Chat", service) == 2)
      try await service.gate(program: Self.tool, .anyFinger)
      #expect(try await prompts(reading: "Mail", service) == 3)
      try await service.gate(program: Self.tool, .anyFinger, .session)
      #expect(try await prompts(reading: "Mail", service) == 4)
      #expect(try await prompts(reading: "Mail", service) == 4)
    }
  }

  @Test("a touch for the session also covers a secret that the program has replaced")
  func replaced() async throws {
    try await RunningSecretService.with([.right]) { service in
      try await service.storeWithTool("old", label: "Chat", "name", "Chat")
      try await service.gate("Chat", .anyFinger, .session)
      try await service.storeWithTool("of Chat", label: "Chat", "name", "Chat")
      for _ in 1...2 { #expect(try await prompts(reading: "Chat", service) == 1) }
    }
  }

  @Test("a change of the enrolled fingers ends a touch: GetSecret asks again, and GetSecrets asks nobody")
  func otherFingers() async throws {
    try await RunningSecretService.with([.right, .right, .right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      var items: [String] = []
      for label in ["Bank", "Mail"] {
        items.append(try await client.create("of \(label)", label: label, ["name": label], session: session))
        try await service.gate(label, .anyFinger, .session)
      }
      let (bank, both) = (items[0], items)
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      // Another program, with a touch of its own.
      #expect(try await service.secrets(of: [bank]) == ["of Bank"])
      #expect(try await service.secrets(of: both) == ["of Bank"])
      #expect(service.agent.prompts.count == 2)
      try await service.store.enroll("left-thumb", .thumb).mustSucceed()
      #expect(try await service.secrets(of: both) == [])
      #expect(service.agent.prompts.count == 2)
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      #expect(service.agent.prompts.count == 3)
    }
  }

  @Test("a Secret Service prompt that its program dismisses is no refusal: the program's next read asks at once")
  func dismissed() async throws {
    // No finger for the first prompt.
    try await RunningSecretService.with([.signal(0), .right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await client.create("of Bank", label: "Bank", ["a": "b"], session: session)
      try await service.gate("Bank", .anyFinger)
      let prompt = try await client.change("Unlock", [bank]).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      try await service.agent.waits { $0.contains { $0.contains(". Swipe the reader") } }
      try await client.call(prompt, "Prompt", "Dismiss")
      #expect(try await client.completed(prompt) == (true, []))
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Bank”") } }
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      #expect(service.agent.prompts.count == 2)
    }
  }

  @Test("a touch for the session does not cover another connection of an unidentified program")
  func unknownProgram() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      try await service.storeWithTool("of Chat", label: "Chat", "name", "Chat")
      try await service.gate("Chat", .anyFinger, .session)
      let script = """
        import secretstorage
        for _ in range(2):
          bus = secretstorage.dbus_init()
          print(next(secretstorage.search_items(bus, {"name": "Chat"})).get_secret().decode())
        """
      let proxy = "\(service.store.folder)/xdg-dbus-proxy"
      try await service.run("/bin/sh", "-c", "cp \"$(readlink -f /usr/bin/python3)\" \(proxy)").mustSucceed()
      let read = try await service.run("/usr/bin/env", "PYTHONHOME=/usr", proxy, "-c", script)
      #expect(read.text == "of Chat\nof Chat\n", "\(read.diagnostics)")
      #expect(service.agent.prompts.count == 2)
    }
  }
}
