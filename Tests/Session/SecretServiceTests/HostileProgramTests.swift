import ProgramDriver
import SDBus
import SecretModel
import Synchronization
import Testing

@Suite("A hostile program on the session's bus", .serialized)
struct HostileProgramTests {
  @Test("the Secret Service serves others while a thousand calls of one program wait for a touch")
  func flood() async throws {
    try await withGatedItem { service, hostile, other, item in
      let (mine, refused) = (try await hostile.plainSession(), Count())
      let flood = Task { await calls(1_000, item, mine, hostile, refused) }
      try await service.gateIsAsked(count: 1)
      let session = try await other.plainSession()
      let open = try await other.create("open", label: "Open", ["c": "d"], session: session)
      #expect(try await other.secret(open, session: session).text == "open")
      #expect(refused.value == 0)
      hostile.connection.close()
      await flood.value
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Bank”") } }
      #expect(service.agent.prompts.count <= 1)
    }
  }

  @Test("the Secret Service refuses calls that take too much memory while they wait, and serves others")
  func largeFlood() async throws {
    try await withGatedItem { service, hostile, other, item in
      let (mine, refused) = (try await hostile.plainSession(), Count())
      // These take the turns of the program.
      let waiting = Task { await calls(64, item, mine, hostile, refused) }
      try await service.gateIsAsked(count: 1)
      let large = [BusValue.texts(["a": String(repeating: "b", count: 1 << 20)])]
      let flood = Task {
        await withTaskGroup { group in
          for _ in 0..<100 {
            group.addTask {
              if await hostile.error(ServiceClient.root, "Service", "SearchItems", large) == "LimitsExceeded" {
                refused.increase()
              }
            }
          }
        }
      }
      for _ in 0..<6_000 where refused.value < 36 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(refused.value >= 36)
      #expect(try await other.search(["a": "b"]).locked == [item])
      hostile.connection.close()
      await flood.value
      await waiting.value
      let next = try await ServiceClient(service.bus)
      _ = try await next.plainSession()
    }
  }

  @Test("300 reads of a program at once of an item with a rule are all answered after one touch")
  func afterFlood() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("Bank", label: "Bank", ["a": "b"], session: session)
      try await service.gate("Bank", .currentSet)
      let refused = Count()
      await calls(300, item, session, client, refused)
      #expect(refused.value == 0)
      #expect(service.agent.prompts.count == 1)
      #expect(try await client.search(["a": "b"]).unlocked == [item])
    }
  }

  @Test("a program that hoards sessions and prompts of the Secret Service loses those that it used least recently")
  func hoarding() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("Bank", label: "Bank", ["a": "b"], session: session)
      let idle = try await client.plainSession()
      for _ in 0..<1_022 { _ = try await client.plainSession() }
      #expect(try await client.secret(item, session: session).text == "Bank")
      _ = try await client.plainSession()
      #expect(await client.error(idle, "Session", "Close") == "NoSession")
      try await client.call(session, "Session", "Close")
      try await service.gate("Bank", .currentSet)
      let first = try await client.change("Unlock", [item]).prompt
      for _ in 0..<256 { _ = try await client.change("Unlock", [item]) }
      #expect(try await client.completed(first).dismissed)
      #expect(await client.error(first, "Prompt", "Prompt", [.string("")]) == "NoSuchObject")
    }
  }

  @Test("a process that opens too many connections to the Secret Service loses its own, and others are served")
  func connections() async throws {
    try await RunningSecretService.with { service in
      var clients: [(client: ServiceClient, session: String)] = []
      for _ in 0..<520 {
        let client = try await ServiceClient(service.bus)
        clients.append((client, try await client.plainSession()))
      }
      // The oldest clients were dropped for later ones, and lost their sessions. They are now served as new clients.
      let error = await clients[0].client.error(clients[0].session, "Session", "Close")
      #expect(error == "NoSession")
      _ = try await clients[0].client.plainSession()
      try await clients[519].client.call(clients[519].session, "Session", "Close")
      try await service.storeWithTool("hunter2", label: "Mail", "service", "mail")
      #expect(try await service.run("/usr/bin/secret-tool", "lookup", "service", "mail").text == "hunter2")
    }
  }

  @Test("a program that leaves large answers unread does not stop the Secret Service for others")
  func unreadAnswers() async throws {
    try await RunningSecretService.with { service in
      let (hostile, other) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let session = try await hostile.plainSession()
      let large = String(repeating: "x", count: 1 << 20)
      var items: [String] = []
      for number in 0..<12 {
        items.append(try await hostile.create(large, label: "\(number)", ["number": "\(number)"], session: session))
      }
      let arguments: [BusValue] = [.array(of: "o", items.map { .objectPath($0) }), .objectPath(session)]
      await withTaskGroup { group in
        for _ in 0..<16 {
          group.addTask { _ = await hostile.error(ServiceClient.root, "Service", "GetSecrets", arguments) }
        }
      }
      let own = try await other.plainSession()
      let new = try await other.create("new", label: "New", ["new": "yes"], session: own)
      #expect(try await other.secret(new, session: own).text == "new")
    }
  }

  @Test("the Secret Service refuses a call with many byte arrays")
  func arraysOfBytes() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let many = BusValue.variant(.array(of: "ay", (0..<100).map { _ in .bytes([]) }))
      let error = await client.error(ServiceClient.root, "Service", "OpenSession", [.string("plain"), many])
      #expect(error == "InvalidArgs")
      _ = try await client.plainSession()
    }
  }

  @Test("random values in every call of the Secret Service harm no other program", arguments: 0..<4)
  func random(seed: Int) async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("kept", label: "Kept", ["kept": "yes"], session: session)
      var random = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9 &+ 1)
      let paths = [
        "/", ServiceClient.root, ServiceClient.login, item, session, "\(ServiceClient.root)/aliases/default",
        "\(ServiceClient.root)/prompt/p", "\(ServiceClient.root)/collection/x_y", "\(item)/more",
        "/org/freedesktop/portal/desktop",
      ]
      let values: [BusValue] = [
        .string(""), .string("plain"), .string("org.freedesktop.Secret.Item"), .string("Label"),
        .string(String(repeating: "é", count: 40_000)), .objectPath("/"), .objectPath(session),
        .objectPath(ServiceClient.login), .array(of: "o", [.objectPath("/"), .objectPath("\(ServiceClient.root)/x")]),
        .texts([:]), .texts(["": "", "a": String(repeating: "b", count: 70_000)]), .dictionary([:]),
        .dictionary(["org.freedesktop.Secret.Item.Attributes": .uint32(1)]), .variant(.bytes([1, 2])),
        .variant(.texts(["a": "b"])), .boolean(true), .uint32(7), .bytes([0]),
        ServiceClient.structure("x", "", session), ServiceClient.structure("x", "", "/none"),
      ]
      let members = [
        "OpenSession", "CreateCollection", "SearchItems", "Unlock", "GetSecrets", "ReadAlias", "SetAlias", "CreateItem",
        "GetSecret", "Prompt", "Dismiss", "Get", "GetAll", "Set", "RetrieveSecret", "Introspect",
      ]
      let interfaces = [
        "Service", "Collection", "Item", "Session", "Prompt", "org.freedesktop.DBus.Properties",
        "org.freedesktop.DBus.Introspectable", "org.freedesktop.impl.portal.Secret", "org.example.Other",
      ]
      for _ in 0..<400 {
        let count = Int.random(in: 0...4, using: &random)
        let arguments = (0..<count).compactMap { _ in values.randomElement(using: &random) }
        guard let path = paths.randomElement(using: &random), let member = members.randomElement(using: &random),
          let interface = interfaces.randomElement(using: &random)
        else { continue }
        _ = await client.error(path, interface, member, arguments)
      }
      let other = try await ServiceClient(service.bus)
      let own = try await other.plainSession()
      let new = try await other.create("new", label: "New", ["new": "yes"], session: own)
      #expect(try await other.secret(new, session: own).text == "new")
      #expect(try await other.secret(item, session: own).text == "kept")
    }
  }

  /// Two programs, of which the second one has stored an item with a rule.
  private func withGatedItem(
    _ body: (RunningSecretService, _ hostile: ServiceClient, _ other: ServiceClient, _ item: String) async throws ->
      Void
  ) async throws {
    try await RunningSecretService.with { service in
      let (hostile, other) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let item = try await other.create("Bank", label: "Bank", ["a": "b"], session: other.plainSession())
      try await service.gate("Bank", .currentSet)
      try await body(service, hostile, other, item)
    }
  }

  private final class Count: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func increase() { count.add(1, ordering: .relaxed) }
  }

  /// Reads an item many times at once, without a touch, and counts the refusals.
  private func calls(
    _ number: Int, _ item: String, _ session: String, _ client: ServiceClient, _ refused: Count
  ) async {
    await withTaskGroup { group in
      for _ in 0..<number {
        group.addTask {
          let error = await client.error(item, "Item", "GetSecret", [.objectPath(session)])
          if error == "LimitsExceeded" { refused.increase() }
        }
      }
    }
  }
}
