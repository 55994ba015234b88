import ProgramDriver
import SDBus
import SecretModel
import Testing
import Whorl

@Suite("Collections and items that a program has locked", .serialized)
struct LockTests {
  @Test("a locked Secret Service collection or item accepts no secret, label, attributes or item until it is unlocked")
  func closedForChanges() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      func setError(_ property: String, _ value: BusValue) async -> String? {
        await client.error(
          item, "org.freedesktop.DBus.Properties", "Set",
          [.string("org.freedesktop.Secret.Item"), .string(property), .variant(value)])
      }
      func errors() async -> [String?] {
        [
          await client.error(item, "Item", "SetSecret", [ServiceClient.structure("new", "text/plain", session)]),
          await setError("Label", .string("new")), await setError("Attributes", .texts(["c": "d"])),
        ]
      }
      let new: [BusValue] = [
        .dictionary([:]), ServiceClient.structure("t", "text/plain", session), .boolean(false),
      ]
      let (refused, accepted): ([String?], [String?]) = (["IsLocked", "IsLocked", "IsLocked"], [nil, nil, nil])
      _ = try await client.change("Lock", [item])
      #expect(await errors() == refused)
      #expect(service.agent.prompts.isEmpty)
      _ = try await client.show(try await client.change("Unlock", [item]).prompt)
      #expect(await errors() == accepted)
      _ = try await client.change("Lock", [ServiceClient.login])
      #expect(await errors() == refused)
      #expect(await client.error(ServiceClient.login, "Collection", "CreateItem", new) == "IsLocked")
      #expect(service.agent.prompts.count == 1)
      _ = try await client.show(try await client.change("Unlock", [ServiceClient.login]).prompt)
      #expect(await errors() == accepted)
      #expect(await client.error(ServiceClient.login, "Collection", "CreateItem", new) == nil)
      #expect(service.agent.prompts.count == 2)
    }
  }

  @Test("a locked Secret Service collection is unlocked by the passcode that a person types in place of a finger")
  func withPasscode() async throws {
    let script = """
      #!/bin/sh
      echo OK
      while read -r word rest; do
        case $word in GETPIN) echo "D \(TestStore.passcode)" ;; esac
        echo OK
      done
      """
    try await RunningSecretService.with(pinentry: script) { service in
      let desktop = try await DesktopStandIn(on: service.bus)
      defer { desktop.close() }
      let client = try await ServiceClient(service.bus)
      _ = try await client.change("Lock", [ServiceClient.login])
      let prompt = try await client.change("Unlock", [ServiceClient.login]).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      desktop.choose("passcode", of: try await desktop.first().number)
      #expect(try await client.completed(prompt) == (false, [ServiceClient.login]))
      #expect(try await client.property(ServiceClient.login, "Collection", "Locked") == .boolean(false))
    }
  }

  @Test("a locked Secret Service collection is unlocked by a finger in a store without a passcode")
  func withoutPasscode() async throws {
    try await RunningSecretService.with([.wrong, .wrong, .wrong, .right]) { service in
      try await service.store.unlocked("passcode", "--remove", "--yes").mustSucceed()
      let client = try await ServiceClient(service.bus)
      for isRight in [false, true] {
        _ = try await client.change("Lock", [ServiceClient.login])
        let shown = try await client.show(try await client.change("Unlock", [ServiceClient.login]).prompt)
        #expect(shown.dismissed == !isRight)
        #expect(try await client.property(ServiceClient.login, "Collection", "Locked") == .boolean(!isRight))
      }
      #expect(service.agent.prompts.count == 4, "\(service.agent.prompts)")
    }
  }

  @Test("a program that locks a collection or item needs a new touch to read, even right after its last touch")
  func endsTouch() async throws {
    try await RunningSecretService.with([.right, .right, .right, .right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await client.create("of Bank", label: "Bank", ["a": "b"], session: session)
      try await service.gate("Bank", .anyFinger)
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      #expect(service.agent.prompts.count == 1)
      #expect(try await client.change("Lock", [bank]).done == [bank])
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      #expect(service.agent.prompts.count == 2)
      _ = try await client.change("Lock", [ServiceClient.login])
      _ = try await client.show(try await client.change("Unlock", [ServiceClient.login]).prompt)
      #expect(service.agent.prompts.count == 3)
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      #expect(service.agent.prompts.count == 4)
    }
  }

  @Test("a program with a grant for the session needs a new touch once the collection or item was locked")
  func endsSession() async throws {
    try await RunningSecretService.with([.right, .right, .right, .right]) { service in
      try await service.storeWithTool("of Chat", label: "Chat", "name", "Chat")
      try await service.gate("Chat", .anyFinger, .session)
      func prompts() async throws -> Int {
        #expect(try await service.run("/usr/bin/secret-tool", "lookup", "name", "Chat").text == "of Chat")
        return service.agent.prompts.count
      }
      #expect(try await prompts() == 1)
      #expect(try await prompts() == 1)
      let client = try await ServiceClient(service.bus)
      let chat = try #require(try await client.search(["name": "Chat"]).locked.first)
      _ = try await client.change("Lock", [chat])
      #expect(try await prompts() == 2)
      _ = try await client.change("Lock", [ServiceClient.login])
      _ = try await client.show(try await client.change("Unlock", [ServiceClient.login]).prompt)
      #expect(service.agent.prompts.count == 3)
      #expect(try await prompts() == 4)
    }
  }

  @Test("a locked collection is not unlocked by an earlier touch of the program that unlocks it")
  func earlierTouch() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let (one, two) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let session = try await one.plainSession()
      let bank = try await one.create("of Bank", label: "Bank", ["a": "b"], session: session)
      let open = try await one.create("open", label: "Open", ["c": "d"], session: session)
      try await service.gate("Bank", .anyFinger)
      #expect(try await one.secret(bank, session: session).text == "of Bank")
      #expect(service.agent.prompts.count == 1)
      _ = try await two.change("Lock", [ServiceClient.login])
      #expect(try await one.show(try await one.change("Unlock", [bank]).prompt) == (false, [bank]))
      #expect(service.agent.prompts.count == 2)
      #expect(try await one.secret(open, session: session).text == "open")
    }
  }

  @Test("a locked collection stays locked when the prompt to unlock it is dismissed, and the prompt ends")
  func dismissed() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      _ = try await client.change("Lock", [ServiceClient.login])
      let prompt = try await client.change("Unlock", [ServiceClient.login]).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      try await service.agent.waits { $0.contains { $0.contains("to unlock “Login”") } }
      try await client.call(prompt, "Prompt", "Dismiss")
      #expect(try await client.completed(prompt) == (true, []))
      try await service.agent.waits { $0.contains { $0.contains("refused to unlock “Login”") } }
      #expect(await client.error(item, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
    }
  }
}
