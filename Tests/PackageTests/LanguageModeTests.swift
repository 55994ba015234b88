import Foundation
import Testing

@Suite("Programs that use rights")
struct LanguageModeTests {
  // The example is built in one mode with the others. The second file is written after Apple's pages alone.
  @Test(
    "programs that use LARight compile without a warning in the language modes 5 and 6",
    arguments: ["Examples/Rights/main.swift", "Tests/Support/PublishedCode/Rights.swift"], ["5", "6"])
  func modes(source: String, mode: String) async throws {
    let products = try Repository.products.path
    let system = try FileManager.default.contentsOfDirectory(
      atPath: Repository.root.appending(path: "Sources/System").path)
    let folders = ["\(products)/Modules", "\(products)/TerminalGuard.build"] + system.map { "Sources/System/\($0)" }
    let checked = try await run(
      "swiftc",
      ["-typecheck", "-swift-version", mode, "-warnings-as-errors"] + folders.flatMap { ["-I", $0] } + [source])
    #expect(checked.status == 0, "\(checked.errors)")
  }
}
