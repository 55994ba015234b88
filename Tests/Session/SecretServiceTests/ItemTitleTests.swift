import ProgramDriver
import SecretModel
import Testing

@Suite("Items of the Secret Service on the command line", .serialized)
struct ItemTitleTests {
  @Test("whorl lists, finds and asks for a Secret Service item by label, and keeps its name in JSON")
  func titles() async throws {
    try await RunningSecretService.with { service in
      try await service.storeWithTool("hunter2", label: "Mail of alice", "service", "mail")
      let listed = try await service.store.whorl("ls")
      #expect(listed.text.contains("Mail of alice\tgeneric-password\torg.freedesktop.secrets\tid:"), "\(listed.text)")
      let id = try #require(
        listed.text.split(separator: "\n").first { $0.hasPrefix("Mail") }?.split(separator: "\t").last)
      #expect(try await service.store.whorl("ls", "Mail of alice").text.hasSuffix("\t\(id)\n"))
      #expect(try await service.store.whorl("ls", "Mail*").text.hasSuffix("\t\(id)\n"))
      let json = try await service.store.whorl("ls", "--json").text
      #expect(json.contains("\"Mail of alice\"") && json.contains("\"login/"), "\(json)")
      try await service.gate("Mail of alice", .presence)
      let words = ["get", String(id), "--timeout", "1"]
      let asked = try await service.store.touched(words, [])
      #expect(asked.diagnostics.contains("to use “Mail of alice”"), "\(asked.diagnostics)")
    }
  }
}
