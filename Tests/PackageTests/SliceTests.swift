import Foundation
import Testing

@Suite("Slices of the package")
struct SliceTests {
  @Test("make check alone explains itself and lists every test target")
  func listsEveryTestTarget() async throws {
    let shown = try await run("scripts/check")
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.output.contains("make check T=KeysTests"))
    for target in try await PackageDescription.ofThisPackage().targets where target.type == "test" {
      #expect(shown.output.contains("  \(target.name) "), "\(target.name)")
    }
  }

  @Test(
    "make check names the slice whose tests use a changed file first",
    arguments: [
      ("Sources/Vault/Keys/HKDF.swift", "KeysTests"),
      ("Sources/Programs/CommandLine/Items/Get.swift", "CommandLineTests"),
      ("Sources/Programs/whorl-fido/main.c", "PasskeysTests"),
      ("Tests/Common/SDBusTests/AnyTests.swift", "SDBusTests"),
      ("docs/sync.md", "PackageTests"),
    ])
  func namesTheSlice(file: String, slice: String) async throws {
    let shown = try await run("scripts/check", "--file", file)
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.output.hasPrefix("make check T=\(slice) "), "\(shown.output)")
  }

  @Test("a slice has its test target, what that needs and the programs that its tests start, and no other test target")
  func whatASliceHas() async throws {
    let slice = try await PackageDescription.of("Package.swift", slice: "WhorlTests").targets.map(\.name)
    #expect(Set(slice).isSuperset(of: ["WhorlTests", "Whorl", "SDBus", "whorld", "Vault", "whorl-reader"]))
    #expect(slice.filter { $0.hasSuffix("Tests") } == ["WhorlTests"])
    #expect(!slice.contains("whorl"))
  }

  @Test("a slice of several test targets has what each of them needs")
  func severalTargets() async throws {
    let slice = try await PackageDescription.of("Package.swift", slice: "CBORTests KeysTests").targets.map(\.name)
    #expect(Set(slice).isSuperset(of: ["CBORTests", "CBOR", "KeysTests", "Keys"]))
    #expect(slice.filter { $0.hasSuffix("Tests") }.sorted() == ["CBORTests", "KeysTests"])
  }

  @Test("every program that a slice builds for its tests is a target of the package")
  func startedProgramsExist() async throws {
    let names = Set(try await PackageDescription.ofThisPackage().targets.map(\.name))
    let text = try Repository.text("Package.swift")
    let table = try #require(text.split(separator: "let started: ", maxSplits: 1).last)
    let lines = table.prefix(upTo: try #require(table.range(of: "\n]")?.lowerBound))
    let named = lines.matches(of: /"([\w-]+)"/).map { String($0.1) }
    #expect(named.count > 20)
    for name in named { #expect(names.contains(name), "\(name)") }
  }
}
