import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing

@Suite("A program that leaves the session's bus", .serialized)
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

  @Test("takes the prompts of all its reads with it, before their 20 seconds are over")
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
}
