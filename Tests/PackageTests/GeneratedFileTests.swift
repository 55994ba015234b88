import Testing

@Suite("Generated files")
struct GeneratedFileTests {
  @Test("the list of Keychain statuses equals the output of its generator")
  func statuses() async throws {
    let generated = try await run("scripts/generate-statuses")
    #expect(generated.status == 0, "\(generated.errors)")
    #expect(generated.output == (try Repository.text("Sources/Client/KeychainServices/Status/RareStatuses.swift")))
  }
}
