import ProgramDriver
import SDBus
import Testing
import VaultDriver

@Suite("What the most used clients of the Secret Service do, again and again", .serialized)
struct ClientHabitTests {
  /// How many days of use.
  private static let times = Campaign.count(short: 2, long: 10)

  /// A connection with what a client does on it.
  private struct Connection {
    let client: ServiceClient
    let habit: ClientHabit
    private var kept: (path: String, own: OwnKey?, peer: [UInt8])?

    init(_ client: ServiceClient, _ habit: ClientHabit) { (self.client, self.habit) = (client, habit) }

    private func open() async throws -> (path: String, own: OwnKey?, peer: [UInt8]) {
      guard habit.isEncrypted else { return (try await client.plainSession(), nil, []) }
      let own = try OwnKey()
      let opened = try await client.call(
        ServiceClient.root, "Service", "OpenSession",
        [.string("dh-ietf1024-sha256-aes128-cbc-pkcs7"), .variant(.bytes(own.publicKey))])
      return (try #require(opened[1].asObjectPath), own, try #require(opened[0].asVariant?.asBytes))
    }

    /// Reads the secrets of these items, in a session as the client has it.
    mutating func secrets(of items: [String]) async throws -> [String] {
      let session: (path: String, own: OwnKey?, peer: [UInt8])
      if habit.sessions == .one, let kept { session = kept } else { session = try await open() }
      if habit.sessions == .one { kept = session }
      var structures: [[BusValue]] = []
      for item in items {
        let answer = try await client.call(item, "Item", "GetSecret", [.objectPath(session.path)])
        structures.append(try #require(answer.first?.asStructure))
      }
      if habit.sessions == .closedAfterUse { try await client.call(session.path, "Session", "Close") }
      return try structures.map { parts in
        let bytes = try #require(parts[2].asBytes)
        guard let own = session.own else { return String(decoding: bytes, as: UTF8.self) }
        return String(
          decoding: try own.decrypted(bytes, iv: try #require(parts[1].asBytes), from: session.peer), as: UTF8.self)
      }
    }
  }

  private static func secret(_ number: Int, of habit: ClientHabit) -> String {
    "\(number) " + String(repeating: "x", count: max(0, habit.secret - "\(number) ".count))
  }

  private static func attributes(_ number: Int, of habit: ClientHabit) -> [String: String] {
    habit.attributes.mapValues { $0.replacing("#", with: "\(number)") }
  }

  @Test("a client's habits reach no limit of the Secret Service", arguments: ClientHabit.all)
  func reachesNoLimit(_ habit: ClientHabit) async throws {
    try await RunningSecretService.with { service in
      let writer = try await ServiceClient(service.bus)
      let session = try await writer.plainSession()
      var collection = "\(ServiceClient.root)/aliases/default"
      if let label = habit.collection {
        let made = try await writer.call(
          ServiceClient.root, "Service", "CreateCollection",
          [.dictionary(["org.freedesktop.Secret.Collection.Label": .string(label)]), .string("")])
        collection = try #require(made.first?.asObjectPath)
      }
      // All connections stay open to the end, as in programs that run for days.
      var connections: [Connection] = []
      var count = 0
      for _ in 0..<Self.times {
        let new = count..<(count + habit.items)
        for number in new {
          // Twice, since most clients replace what they have stored.
          for secret in ["before", Self.secret(number, of: habit)] {
            try await writer.create(
              secret, in: collection, label: habit.label.replacing("#", with: "\(number)"),
              Self.attributes(number, of: habit), replace: true, session: session)
          }
        }
        count += habit.items
        let first = connections.count
        for _ in 0..<habit.connections { connections.append(Connection(try await ServiceClient(service.bus), habit)) }
        if habit.reading == .wholeCollection {
          for _ in 0..<habit.reads { try await self.wholeCollection(collection, count, &connections[first], service) }
          continue
        }
        for read in 0..<habit.reads {
          for number in new {
            let place = first + (read * habit.items + number) % habit.connections
            try await self.read(number, &connections[place])
          }
        }
      }
      // What was there first is there still, by the first connection.
      if habit.reading != .wholeCollection { for number in 0..<count { try await self.read(number, &connections[0]) } }
      #expect(service.agent.lines.filter { $0.contains("is refused") } == [])
    }
  }

  private func read(_ number: Int, _ connection: inout Connection) async throws {
    let habit = connection.habit
    let found = try await connection.client.search(Self.attributes(number, of: habit)).unlocked
    #expect(found.count == 1, "\(number)")
    #expect(try await connection.client.change("Unlock", found).done == found)
    let secrets = try await connection.secrets(of: found)
    #expect(secrets == [Self.secret(number, of: habit)], "\(number)")
  }

  private func wholeCollection(
    _ path: String, _ count: Int, _ connection: inout Connection, _ service: RunningSecretService
  ) async throws {
    let (client, habit) = (connection.client, connection.habit)
    let items = try await client.property(path, "Collection", "Items").asArray?.compactMap(\.asObjectPath) ?? []
    #expect(items.count == count)
    let failures = await withTaskGroup { group in
      for item in items {
        group.addTask {
          await client.error(
            item, "org.freedesktop.DBus.Properties", "GetAll", [.string("org.freedesktop.Secret.Item")])
        }
      }
      return await group.reduce(into: Set<String>()) { if let error = $1 { $0.insert(error) } }
    }
    #expect(failures.isEmpty, "\(failures)")
    let secrets = Set((0..<count).map { Self.secret($0, of: habit) })
    let read = try await connection.secrets(of: items)
    #expect(Set(read) == secrets)
    // In one call.
    let together = try await service.secrets(of: items)
    #expect(Set(together) == secrets)
  }
}
