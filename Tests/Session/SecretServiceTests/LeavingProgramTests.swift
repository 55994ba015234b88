import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing

@Suite("A program that leaves the session bus", .serialized)
struct LeavingProgramTests {
  private func gated(_ labels: [String], _ service: RunningSecretService, _ client: ServiceClient) async throws
    -> [String]
  {
    let session = try await client.plainSession()
    var items: [String] = []
    for label in labels {
      items.append(try await client.create("s", label: label, ["name": label], session: session))
      try await service.gate(label, .currentSet)
    }
    return items
  }

  @Test("a program that leaves the bus ends the prompts of all its reads before their 20 seconds are over")
  func reads() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let items = try await gated(["Bank", "Mail"], service, client)
      let session = try await client.plainSession()
      let start = ContinuousClock.now
      async let first = client.error(items[0], "Item", "GetSecret", [.objectPath(session)])
      try await service.agent.waits { $0.contains { $0.contains("to read “Bank”") } }
      async let second = client.error(items[1], "Item", "GetSecret", [.objectPath(session)])
      try await Task.sleep(for: .milliseconds(300))
      client.connection.close()
      _ = await (first, second)
      var isRefused = false
      while !isRefused, ContinuousClock.now - start < .seconds(19) {
        try await Task.sleep(for: .milliseconds(10))
        isRefused = service.agent.lines.contains { $0.contains("refused to read “Bank”") }
      }
      #expect(isRefused)
      try await Task.sleep(for: .milliseconds(500))
      #expect(service.agent.prompts.count == 1, "\(service.agent.prompts)")
    }
  }

  @Test("a program that has left the bus causes no prompt for a read that it sent before")
  func lateRead() async throws {
    try await RunningSecretService.with { service in
      let (leaving, other) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let items = try await gated(["Bank"], service, leaving)
      let session = try await leaving.plainSession()
      let answer = try await other.connection.call(
        MessageBus.target, "GetConnectionUnixProcessID", [.string("org.freedesktop.secrets")])
      let agent = pid_t(bitPattern: try #require(answer.first?.asUInt32))
      try stop(agent)
      defer { kill(agent, SIGCONT) }
      async let read = leaving.error(items[0], "Item", "GetSecret", [.objectPath(session)])
      try await Task.sleep(for: .milliseconds(200))
      // The bus has read what was sent before.
      _ = try await leaving.connection.call(MessageBus.target, "GetId")
      leaving.connection.close()
      _ = await read
      try await Task.sleep(for: .milliseconds(300))
      kill(agent, SIGCONT)
      _ = try await other.search([:])
      try await Task.sleep(for: .seconds(2))
      #expect(service.agent.prompts.isEmpty)
    }
  }

  @Test("a forged NameOwnerChanged of another program does not end a program's Secret Service session")
  func forged() async throws {
    try await RunningSecretService.with { service in
      let (client, hostile) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      _ = try await client.connection.call(
        MessageBus.target, "RequestName", [.string("org.example.Victim"), .uint32(4)])
      let name = try #require(try await hostile.connection.owner(of: "org.example.Victim"))
      hostile.connection.emit(
        BusTarget(
          destination: "org.freedesktop.secrets", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus"),
        "NameOwnerChanged", [.string(name), .string(name), .string("")])
      _ = try await hostile.search([:])
      #expect(try await client.secret(item, session: session).text == "s")
    }
  }

  @Test("a program that leaves the bus frees its place in the Secret Service: more than a thousand come and go")
  func many() async throws {
    try await RunningSecretService.with { service in
      let target = BusTarget(
        destination: "org.freedesktop.secrets", path: ServiceClient.root, interface: "org.freedesktop.Secret.Service")
      for number in 0..<1_100 {
        let client = try BusConnection(busAddress: service.bus.address, handlers: .init())
        defer { client.close() }
        let answer = try await client.call(target, "ReadAlias", [.string("default")])
        try #require(answer.first?.asObjectPath == ServiceClient.login, "\(number)")
      }
    }
  }
}
