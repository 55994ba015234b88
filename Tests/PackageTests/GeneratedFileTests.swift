import Testing

@Suite("Generated files")
struct GeneratedFileTests {
  @Test("the statuses are what their generator makes of its list today")
  func statuses() async throws {
    let generated = try await run("scripts/generate-statuses")
    #expect(generated.status == 0, "\(generated.errors)")
    #expect(generated.output == (try Repository.text("Sources/Security/Status/RareStatuses.swift")))
  }
}
