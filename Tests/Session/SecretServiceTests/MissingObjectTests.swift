import SDBus
import Testing

@Suite("Missing objects of the Secret Service")
struct MissingObjectTests {
  @Test("a path that only begins like the Secret Service's is not an object")
  func path() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let arguments: [BusValue] = [.string("org.freedesktop.Secret.Collection"), .string("Label")]
      let properties = "org.freedesktop.DBus.Properties"
      #expect(await client.error(ServiceClient.login, properties, "Get", arguments) == nil)
      let other = ServiceClient.login.replacing("/secrets/", with: "/secretsX/")
      #expect(await client.error(other, properties, "Get", arguments) != nil)
    }
  }

  @Test("Lock of the Secret Service skips missing objects and locks the others")
  func lock() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("text", label: "Mail", ["name": "Mail"], session: session)
      let answer = try await client.change("Lock", ["\(ServiceClient.login)/none", item])
      #expect(answer.done == [item])
      #expect(await client.error(item, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
    }
  }
}
