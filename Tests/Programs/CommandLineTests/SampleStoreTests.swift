import Glibc
import ProgramDriver
import Testing

/// Stores, backups and exports that earlier builds have written: `Tests/Samples`, whose README says how one is made.
@Suite("what earlier builds have written is read")
struct SampleStoreTests {
  private static let samples = "\(#filePath.dropLast("Programs/CommandLineTests/SampleStoreTests.swift".count))Samples"
  /// The items of a sample. The secret of each is its name, and the names of the closed ones are those of their rules.
  private static let open = ["open", "with space/ümlaut"]
  private static let passcode = ["presence", "passcode"]
  private static let touched = ["any-finger", "current-set"]
  private static let file = [UInt8](0...255)

  static var all: [String] {
    get throws { try folderEntries(samples).filter { $0 != "README.md" }.sorted() }
  }

  /// Unpacks a sample into a folder of its own. The key of a sample's owner is no secret.
  private func with(_ sample: String, _ body: (TestStore) async throws -> Void) async throws {
    try await withFolder { folder in
      try await Invocation(
        program: "/usr/bin/tar", arguments: ["-xzf", "\(Self.samples)/\(sample)", "-C", folder, "--no-same-owner"]
      ).run().mustSucceed()
      try await body(TestStore(folder: folder, recoveryKey: try text("\(folder)/recovery")))
    }
  }

  private func text(_ path: String) throws -> String { String(decoding: try readFile(path), as: UTF8.self) }

  @Test("a store opens, and each of its items comes out under its rule", arguments: try all)
  func store(_ sample: String) async throws {
    try await with(sample) { store in
      try await expectAll(in: store)
      for name in Self.touched {
        let read = try await store.touched(["get", name], [.right])
        #expect(read.text == name, "\(read.diagnostics)")
      }
      // It can be changed, and its recovery key is still good.
      try await store.set("new", "of today", "--access", "none")
      #expect(try await store.whorl("get", "new").text == "of today")
      let recovered = try await Invocation(
        arguments: store.arguments(["recover", "--recovery-fd", "3", "--passcode-fd", "4"]),
        descriptors: [store.recoveryKey + "\n", "another passcode, longer\n"]
      ).run()
      #expect(recovered.status == 0, "\(recovered.diagnostics)")
    }
  }

  @Test("a backup is restored into a new store, or refused as one of an older format", arguments: try all)
  func backup(_ sample: String) async throws {
    try await with(sample) { store in
      removeFolder(store.directory)
      let restored = try await Invocation(
        arguments: store.arguments([
          "restore", "\(store.folder)/backup", "--yes", "--recovery-fd", "3", "--passcode-fd", "4",
        ]),
        descriptors: [store.recoveryKey + "\n", TestStore.passcode + "\n"]
      ).run()
      // Before 27 November a backup had the layout 1, which no later build reads (docs/formats.md).
      guard sample > "2026-11-27" else {
        #expect(restored.status == 65 && restored.failure.contains("of an older format (1)"), "\(restored.diagnostics)")
        return
      }
      #expect(restored.status == 0, "\(restored.diagnostics)")
      try await expectAll(in: store)
    }
  }

  @Test("an export is imported into another store", arguments: try all)
  func export(_ sample: String) async throws {
    try await with(sample) { sampled in
      try await TestStore.with { store in
        let imported = try await ExportTests.run(store, "import", "\(sampled.folder)/export", "--yes")
        #expect(imported.status == 0, "\(imported.diagnostics)")
        try await expectAll(in: store)
      }
    }
  }

  private func expectAll(in store: TestStore) async throws {
    for name in Self.open { #expect(try await store.whorl("get", name).text == name) }
    #expect(try await store.whorl("get", "binary").output == Self.file)
    for name in Self.passcode {
      let read = try await store.unlocked("get", name)
      #expect(read.text == name, "\(read.diagnostics)")
    }
  }

  @Test(
    "a sample is written to the file that WHORL_SAMPLE names, by the programs of WHORL_PROGRAMS",
    .enabled(if: getenv("WHORL_SAMPLE") != nil, "only to make another sample: Tests/Samples/README.md"))
  func made() async throws {
    let sample = try #require(getenv("WHORL_SAMPLE").map { String(cString: $0) })
    try await TestStore.with { store in
      for name in Self.open { try await store.set(name, name, "--access", "none") }
      for name in Self.passcode { try await store.set(name, name, "--access", name) }
      try await store.whorl("set", "binary", "--access", "none", input: Self.file).mustSucceed()
      // An export asks for what each item needs.
      try await ExportTests.run(store, "export", "\(store.folder)/export").mustSucceed()
      try await store.enroll().mustSucceed()
      for name in Self.touched { try await store.set(name, name, "--access", name) }
      try await store.unlocked("backup", "\(store.folder)/backup").mustSucceed()
      try writeFile("\(store.folder)/recovery", Array(store.recoveryKey.utf8))
      try await Invocation(
        program: "/usr/bin/tar",
        arguments: [
          "-czf", sample, "-C", store.folder, "--owner=0", "--group=0", "store", "backup", "export", "recovery",
        ]
      ).run().mustSucceed()
    }
  }
}
