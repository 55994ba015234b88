import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing

@Suite("A passcode that nobody types, for an item of the Secret Service", .serialized)
struct UntypedPasscodeTests {
  @Test("a read whose passcode nobody types ends as locked, the desktop keeps a note, and the next asks again")
  func untyped() async throws {
    try await RunningSecretService.with(pinentry: LatePinentry.script) { service in
      let desktop = try await DesktopStandIn(on: service.bus)
      defer { desktop.close() }
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await client.create("of Bank", label: "Bank", ["name": "Bank"], session: session)
      try await service.gate("Bank", .passcode)
      await #expect {
        _ = try await client.secret(bank, session: session)
      } throws: { error in
        if case BusError.remote("org.freedesktop.Secret.Error.IsLocked", _, _)? = error as? BusError {
          true
        } else {
          false
        }
      }
      #expect(access("\(service.store.folder)/asked", F_OK) == 0)
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Bank”") } }
      let left = try await desktop.first(with: " wanted to read “Bank”; nobody answered.")
      #expect(left.title == "Not answered" && left.actions.isEmpty && left.urgency == 1 && !left.isTransient)
      #expect(try await client.secret(bank, session: session).text == "of Bank", "\(service.agent.lines)")
    }
  }
}
