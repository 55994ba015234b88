import Glibc
import ProgramDriver
import SDBus
import Testing

@Suite("The portal's back end", .serialized)
struct PortalTests {
  private static let path = "/org/freedesktop/portal/desktop"
  private static let interface = "org.freedesktop.impl.portal.Secret"

  /// What a program gets through the portal.
  private func secret(of application: String, _ portal: ServiceClient) async throws -> [UInt8] {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let answer = try await portal.call(
      Self.path, Self.interface, "RetrieveSecret",
      [
        .objectPath("/request"), .string(application), .descriptor(BusDescriptor(taking: ends[1])),
        .dictionary([:]),
      ])
    #expect(answer == [.uint32(0), .dictionary([:])])
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = read(ends[0], &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  @Test("gives each sandboxed program a secret of its own, the same every time")
  func secrets() async throws {
    try await RunningSecretService.with { service in
      let portal = try await ServiceClient(service.bus)
      _ = try await portal.connection.call(
        MessageBus.target, "RequestName", [.string("org.freedesktop.portal.Desktop"), .uint32(4)])
      let one = try await secret(of: "org.example.One", portal)
      #expect(one.count == 64)
      #expect(try await secret(of: "org.example.One", portal) == one)
      #expect(try await secret(of: "org.example.Two", portal) != one)
      let atOnce = try await withThrowingTaskGroup { group in
        for _ in 0..<8 { group.addTask { try await secret(of: "org.example.Three", portal) } }
        return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
      }
      #expect(atOnce.count == 1)
      // What another keyring has made is used as it is.
      let session = try await portal.plainSession()
      try await portal.create(
        "from before", label: "l", ["app_id": "org.example.Old", "xdg:schema": "org.freedesktop.portal.Secret"],
        session: session)
      #expect(try await secret(of: "org.example.Old", portal) == Array("from before".utf8))
    }
  }

  @Test("refuses everybody but the portal")
  func refused() async throws {
    try await RunningSecretService.with { service in
      let other = try await ServiceClient(service.bus)
      let arguments: [BusValue] = [
        .objectPath("/request"), .string("org.example.One"),
        .descriptor(BusDescriptor(taking: open("/dev/null", O_WRONLY))), .dictionary([:]),
      ]
      #expect(await other.error(Self.path, Self.interface, "RetrieveSecret", arguments) == "AccessDenied")
      let portal = try await ServiceClient(service.bus)
      _ = try await portal.connection.call(
        MessageBus.target, "RequestName", [.string("org.freedesktop.portal.Desktop"), .uint32(4)])
      #expect(await other.error(Self.path, Self.interface, "RetrieveSecret", arguments) == "AccessDenied")
    }
  }
}
