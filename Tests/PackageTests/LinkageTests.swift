import Foundation
import Testing

@Suite("The libraries that the built programs link")
struct LinkageTests {
  // Parsing a malicious template may crash the process, and libfprint obeys its environment, so only one process may
  // load it.
  @Test("only whorl-reader and the checks of GLibKit link libfprint, and GLib only they and the window")
  func onlyTheReaderLinksLibfprint() async throws {
    let binaries = try builtBinaries()
    #expect(binaries.count >= 4, "found \(binaries.map(\.lastPathComponent))")
    for binary in binaries {
      let libraries = try await sharedLibraries(of: binary).filter {
        $0.hasPrefix("libfprint") || $0.hasPrefix("libglib")
      }
      if ["whorl-reader", "glib-checks"].contains(binary.lastPathComponent) {
        #expect(libraries.contains { $0.hasPrefix("libfprint-2.so") })
      } else if binary.lastPathComponent == "whorl-gtk" {
        #expect(!libraries.contains { $0.hasPrefix("libfprint") }, "\(libraries)")
      } else {
        #expect(libraries.isEmpty, "\(binary.lastPathComponent) links \(libraries)")
      }
    }
  }

  @Test("only the vault links the TPM libraries")
  func onlyTheVaultLinksTSS() async throws {
    let programs = [
      "whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger", "whorl-reader-kit", "whorl-program-path",
      "whorl-fido",
    ]
    for program in programs {
      let libraries = try await sharedLibraries(of: try Repository.products.appending(path: program))
      #expect(libraries.contains { $0.hasPrefix("libtss2") } == (program == "whorld"), "\(program): \(libraries)")
    }
  }

  // The reverse of the rule above: the process that talks USB must not hold keys.
  @Test("the reader process links neither the cryptography nor the database of the vault")
  func theReaderHoldsNoVault() async throws {
    let libraries = try await sharedLibraries(of: try Repository.products.appending(path: "whorl-reader"))
    #expect(!libraries.isEmpty)
    #expect(!libraries.contains { $0.hasPrefix("libcrypto") || $0.hasPrefix("libsqlite3") }, "\(libraries)")
  }

  // They are 1.2 MB of a release program. In a debug build they are a library, whose functions are found by their names.
  @Test("the reader process uses no regular expressions, which a search for text by `contains` would bring")
  func theReaderHasNoRegularExpressions() async throws {
    let reader = try Repository.products.appending(path: "whorl-reader")
    let symbols = try await run("readelf", "--dyn-syms", "--wide", reader.path)
    try #require(symbols.status == 0, "\(symbols.errors)")
    #expect(symbols.output.contains("$ss"), "the program uses nothing of the standard library")
    #expect(!symbols.output.contains("17_StringProcessing"))
  }

  // Only the vault uses keys, in a process of its own. GRDB is linked statically, so it is found by its symbols.
  // Foundation's internationalization with ICU takes more time at each start than everything else.
  @Test("the command line links no cryptography, database or ICU, nor does any library that it loads")
  func theCommandLineHoldsNoVault() async throws {
    let program = try Repository.products.appending(path: "whorl")
    let direct = try await sharedLibraries(of: program)
    let loaded = try await run("ldd", program.path)
    try #require(loaded.status == 0, "\(loaded.errors)")
    #expect(loaded.output.contains("libsystemd"), "\(loaded.output)")
    for library in ["libcrypto", "libssl", "libsqlite3", "libicu", "FoundationICU", "FoundationInternationalization"] {
      #expect(!direct.contains { $0.contains(library) }, "\(direct)")
      #expect(!loaded.output.contains(library), "\(loaded.output)")
    }
  }

  /// All ELF programs and shared objects in the test runner's folder.
  private func builtBinaries() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: try Repository.products, includingPropertiesForKeys: nil)
      .filter { file in
        guard let handle = try? FileHandle(forReadingFrom: file) else { return false }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 4)) == Data([0x7F, 0x45, 0x4C, 0x46])
      }
  }

  private func sharedLibraries(of binary: URL) async throws -> [String] {
    let dump = try await run("readelf", "--dynamic", "--wide", binary.path)
    try #require(dump.status == 0, "\(dump.errors)")
    return dump.output.matches(of: /\(NEEDED\).*\[(.*?)\]/).map { String($0.1) }
  }
}
