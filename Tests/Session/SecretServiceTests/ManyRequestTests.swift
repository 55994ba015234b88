import ProgramDriver
import SDBus
import SecretModel
import Testing

/// What the most used programs of the Secret Service do, ten times over.
@Suite("Programs that ask the Secret Service for much", .serialized)
struct ManyRequestTests {
  @Test("secretstorage of Python reads 1,000 times, with a new session for each, and closes none")
  func sessions() async throws {
    try await RunningSecretService.with { service in
      let result = try await service.python(
        """
        import secretstorage
        bus = secretstorage.dbus_init()
        collection = secretstorage.get_default_collection(bus)
        for number in range(100):
            collection.create_item(f'item {number}', {'number': str(number)}, b'%d' % number)
        # Without a session, which this one has kept.
        collection = secretstorage.get_default_collection(bus)
        for round in range(10):
            items = list(collection.get_all_items())
            secrets = {item.get_secret() for item in items}
            assert secrets == {b'%d' % number for number in range(100)}, (round, len(secrets))
        print('fine')
        """)
      #expect(result.text == "fine\n", "\(result.diagnostics)")
    }
  }

  @Test("a program that has opened 1,000 sessions still uses all of them")
  func sessionsInTurn() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      var sessions = [session]
      for _ in 1..<1_000 { sessions.append(try await client.plainSession()) }
      for session in sessions { #expect(try await client.secret(item, session: session).text == "s") }
    }
  }

  @Test("a program looks at 1,000 items at once, as libsecret does when it loads a collection")
  func itemsAtOnce() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      var items: [String] = []
      for number in 0..<50 {
        items.append(try await client.create("\(number)", label: "\(number)", ["n": "\(number)"], session: session))
      }
      let failures = await withTaskGroup { group in
        for number in 0..<1_000 {
          let item = items[number % items.count]
          group.addTask {
            await client.error(
              item, "org.freedesktop.DBus.Properties", "GetAll", [.string("org.freedesktop.Secret.Item")])
          }
        }
        var failures: [String] = []
        for await error in group { if let error { failures.append(error) } }
        return failures
      }
      #expect(failures.isEmpty, "\(failures.count): \(Set(failures))")
    }
  }

  @Test("a process keeps 300 connections to the Secret Service, each with its session")
  func connections() async throws {
    try await RunningSecretService.with { service in
      let first = try await ServiceClient(service.bus)
      let item = try await first.create("s", label: "l", ["a": "b"], session: try await first.plainSession())
      var clients: [(client: ServiceClient, session: String)] = []
      for _ in 0..<300 {
        let client = try await ServiceClient(service.bus)
        clients.append((client, try await client.plainSession()))
      }
      for (client, session) in clients { #expect(try await client.secret(item, session: session).text == "s") }
    }
  }

  @Test("a program reads 80 items, each allowed by its own touch for the session, over one connection to the vault")
  func touches() async throws {
    let count = 80
    try await RunningSecretService.with(Array(repeating: .right, count: count)) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      var items: [String] = []
      for number in 0..<count {
        let label = "item \(number)"
        items.append(try await client.create(label, label: label, ["n": "\(number)"], session: session))
        try await service.gate(label, .presence, .session)
      }
      for (number, item) in items.enumerated() {
        // Each on a connection of its own, as each run of secret-tool has.
        let reader = try await ServiceClient(service.bus)
        let session = try await reader.plainSession()
        #expect(try await reader.secret(item, session: session).text == "item \(number)")
      }
      #expect(service.agent.prompts.count == count)
      #expect(vaults(of: service.agent.pid).count == 1)
      // All touches are kept.
      let reader = try await ServiceClient(service.bus)
      let own = try await reader.plainSession()
      for item in items { _ = try await reader.secret(item, session: own) }
      #expect(service.agent.prompts.count == count)
    }
  }

  @Test("an item with a long label, many attributes and long values is stored and found")
  func largeItem() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let label = String(repeating: "Ein langer Name, wie ihn Programme machen. ", count: 100)
      var attributes = ["xdg:schema": "org.example.Many"]
      for number in 0..<50 {
        attributes["a rather long name of an attribute \(number)"] = String(repeating: "\(number) ", count: 200)
      }
      let secret = String(repeating: "x", count: 500_000)
      let item = try await client.create(secret, label: label, attributes, session: session)
      #expect(try await client.search(attributes).unlocked == [item])
      #expect(try await client.property(item, "Item", "Label") == .string(label))
      #expect(try await client.property(item, "Item", "Attributes") == .texts(attributes))
      #expect(try await client.secret(item, session: session).text == secret)
    }
  }

  @Test("50 programs start at once and each find, read and store, as at a login")
  func login() async throws {
    try await RunningSecretService.with { service in
      for number in 0..<50 {
        try await service.storeWithTool("secret \(number)", label: "\(number)", "number", "\(number)")
      }
      let failures = await withTaskGroup { group in
        for number in 0..<50 {
          group.addTask { () -> String? in
            do {
              let found = try await service.run("/usr/bin/secret-tool", "lookup", "number", "\(number)")
              guard found.text == "secret \(number)" else { return "\(number): \(found.text) \(found.diagnostics)" }
              try await service.storeWithTool("new \(number)", label: "\(number)", "number", "\(number)")
              return nil
            } catch {
              return "\(number): \(error)"
            }
          }
        }
        var failures: [String] = []
        for await failure in group { if let failure { failures.append(failure) } }
        return failures
      }
      #expect(failures.isEmpty, "\(failures)")
    }
  }
}
