import Foundation
import Testing

@Suite("The table of layers in CONTRIBUTING.md")
struct DependencyTableTests {
  let table: LayerTable
  let package: PackageDescription

  init() async throws {
    table = LayerTable(markdown: try Repository.text("CONTRIBUTING.md"))
    package = try await PackageDescription.ofThisPackage()
  }

  @Test("the table of layers in CONTRIBUTING.md lists every target of the package once, and nothing else")
  func listsEveryTarget() {
    #expect(table.targets.sorted() == package.targets.map(\.name).sorted())
  }

  @Test("every target of the package depends only on targets of lower layers")
  func arrowsPointDown() throws {
    let layers = table.layers
    for target in package.targets {
      for dependency in target.targetDependencies {
        let upper = try #require(layers[target.name], "\(target.name) is not in the table")
        let lower = try #require(layers[dependency], "\(dependency) is not in the table")
        #expect(upper.mayUse(lower, asTarget: target.name), "\(target.name) must not use \(dependency)")
      }
    }
  }

  @Test("upward, sideways and test-only dependencies between the package's layers are refused")
  func refusesOtherArrows() {
    #expect(!LayerTable.Layer.number(2).mayUse(.number(3), asTarget: "Keys"))
    #expect(!LayerTable.Layer.number(3).mayUse(.number(3), asTarget: "Vault"))
    #expect(!LayerTable.Layer.tests.mayUse(.number(9), asTarget: "ReaderTests"))
    #expect(!LayerTable.Layer.tests.mayUse(.number(10), asTarget: "ReaderTests"))
    #expect(!LayerTable.Layer.number(3).mayUse(.testSupport, asTarget: "Vault"))
    #expect(!LayerTable.Layer.number(9).mayUse(.testSupport, asTarget: "whorl"))
    #expect(!LayerTable.Layer.testSupport.mayUse(.number(8), asTarget: "ProgramDriver"))
  }

  @Test("the table of layers in CONTRIBUTING.md lists exactly the test targets in its row of tests")
  func testsAreTests() {
    let layers = table.layers
    for target in package.targets {
      #expect((target.type == "test") == (layers[target.name] == .tests), "\(target.name)")
      #expect((target.type == "executable") == (layers[target.name] == .number(9)), "\(target.name)")
      if target.type == "system" { #expect(layers[target.name] == .number(0), "\(target.name)") }
    }
  }

  // `scripts/build` builds this target: a program without this dependency would be outdated or missing in the packages.
  @Test("the target InstalledPrograms depends on every Swift program, and is in no product itself")
  func installedPrograms() throws {
    let programs = package.products.map(\.name).filter { name in
      package.targets.contains { $0.name == name && $0.type == "executable" }
    }
    #expect(programs.contains("whorl-program-path"))
    let together = try #require(package.targets.first { $0.name == "InstalledPrograms" })
    // The programs in C are compiled without SwiftPM.
    let inC = ["whorl-program-path", "whorl-fido"]
    #expect(together.targetDependencies.sorted() == programs.filter { !inC.contains($0) }.sorted())
    #expect(!package.products.contains { $0.targets.contains("InstalledPrograms") })
    #expect(!package.targets.contains { $0.targetDependencies.contains("InstalledPrograms") })
  }

  @Test("only ReaderService depends on CFprint, and only the reader process reaches it")
  func libfprintStaysInTheReader() {
    let direct = package.targets.filter { $0.targetDependencies.contains("CFprint") }.map(\.name)
    #expect(direct.sorted() == ["ReaderService", "glib-checks"])
    let reaching = package.targets.map(\.name).filter { package.reached(from: $0).contains("CFprint") }
    #expect(reaching.sorted() == ["InstalledPrograms", "ReaderService", "glib-checks", "whorl-reader"])
  }

  @Test("the package uses two external packages alone: GRDB in the vault and ArgumentParser in programs")
  func outsidePackages() {
    for target in package.targets {
      for product in target.outsideDependencies {
        switch product {
        case "GRDB":
          let vault = ["VaultStore", "VaultSync", "Presence", "VaultItems", "Vault"]
          #expect((vault + ["VaultTests", "VaultHostTests", "HardeningTests"]).contains(target.name))
        case "ArgumentParser": #expect(target.type == "executable" || target.name == "CommandBase", "\(target.name)")
        default: Issue.record("\(target.name) uses \(product), which CONTRIBUTING.md does not allow")
        }
      }
    }
  }

  // SwiftPM lets a file import any module that happens to have been built.
  @Test("source files import only modules that their target names as dependencies")
  func importsAreDeclared() throws {
    let names = Set(package.targets.map(\.name))
    for target in package.targets where target.type != "system" {
      let folder = target.path ?? (target.type == "test" ? "Tests/\(target.name)" : "Sources/\(target.name)")
      for file in try Repository.files(under: [folder], extensions: ["swift"]) {
        for module in importedModules(of: try Repository.text(file)) where names.contains(module) {
          #expect(target.targetDependencies.contains(module), "\(file) imports \(module)")
        }
      }
    }
  }

  @Test("Package.swift has the examples of Examples/Package.swift, with the same sources and library products only")
  func examplesAreAPackageToo() async throws {
    let examples = try await PackageDescription.of("Examples/Package.swift").targets
    #expect(examples.count == 7)
    for example in examples {
      let here = try #require(package.targets.first { $0.name == example.name }, "\(example.name)")
      #expect(here.path == example.path.map { "Examples/\($0)" })
      #expect(Set(example.outsideDependencies).isSubset(of: ["Whorl", "LocalAuthentication", "KeychainServices"]))
      #expect(here.targetDependencies == example.outsideDependencies, "\(example.name)")
    }
    let others = package.targets.filter { $0.path?.hasPrefix("Examples/") == true }.count
    #expect(others == examples.count)
  }

  private func importedModules(of source: String) -> [String] {
    let here =
      source.contains("#if canImport(Darwin)")
      ? source.replacing(/#if canImport\(Darwin\)\n(?s:.*?)#else/, with: "") : source
    // Filter first: the expression on every line of all files would take a minute in a debug build.
    return here.split(separator: "\n").filter { $0.contains("import ") }.compactMap { line in
      line.wholeMatch(
        of:
          /\s*(?:@\w+(?:\(\w+\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)(?:\.\w+)*\s*(?:\/\/.*)?/
      )
      .map { String($0.1) }
    }
  }
}
