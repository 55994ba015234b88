import SDBus
import Testing

@Suite("Objects that the Secret Service does not have")
struct MissingObjectTests {
  @Test("have no path that only begins like that of the service")
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

  @Test("are left out by Lock, which locks the others")
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
