import ProgramDriver
import Testing

@Suite("The progress of export and import")
struct ProgressTests {
  private static let passphrase = Array("a long passphrase\n".utf8)

  /// What a command with the passphrase prints into a pipe.
  private func piped(_ words: [String], _ store: TestStore) async throws -> String {
    let done = try await Invocation(
      arguments: store.arguments(words + ["--passphrase-fd", "0"]), input: Self.passphrase
    ).run()
    try done.mustSucceed()
    return done.diagnostics
  }

  /// What it shows on a terminal.
  private func shown(_ words: [String], _ store: TestStore) async throws -> String {
    let file = "\(store.folder)/passphrase"
    try writeFile(file, Self.passphrase)
    let terminal = try PseudoTerminal(store.arguments(words + ["--passphrase-fd", "0"]), input: file)
    #expect(try await terminal.status() == 0, "\(terminal.shown)")
    return terminal.shown
  }

  @Test("the progress of export is shown only on a terminal and without --quiet, and is removed at the end")
  func exporting() async throws {
    try await TestStore.withoutPasscode { store in
      try await store.set("one", "secret", "--access", "none")
      let file = "\(store.folder)/items.age"
      let plain = try await piped(["export", file], store)
      #expect(!plain.contains("["), "\(plain)")
      let quiet = try await shown(["export", file, "--replace", "--quiet"], store)
      #expect(!quiet.contains("Exporting") && quiet.contains("Exported 1 item"), "\(quiet)")
      let bar = try await shown(["export", file, "--replace"], store)
      #expect(bar.contains("Exporting [####"), "\(bar)")
      #expect(bar.contains(" %\r\u{1B}[KExported 1 item"), "\(bar.debugDescription)")
    }
  }

  @Test("the progress of import is shown only on a terminal and without --quiet, and is removed at the end")
  func importing() async throws {
    try await TestStore.withoutPasscode { store in
      try await store.set("one", "secret", "--access", "none")
      let file = "\(store.folder)/items.age"
      _ = try await piped(["export", file], store)
      let words = ["import", file, "--yes"]
      try await store.whorl("rm", "one").mustSucceed()
      let plain = try await piped(words, store)
      #expect(!plain.contains("["), "\(plain)")
      try await store.whorl("rm", "one").mustSucceed()
      let quiet = try await shown(words + ["--quiet"], store)
      #expect(!quiet.contains("ing [") && quiet.contains("Brought in 1 item"), "\(quiet)")
      try await store.whorl("rm", "one").mustSucceed()
      let bars = try await shown(words, store)
      #expect(bars.contains("Reading [") && bars.contains("Importing [####"), "\(bars)")
      // Each bar begins with the same sequence, so two of them show that the first bar was removed.
      #expect(bars.contains(" %\r\u{1B}[K\r\u{1B}[KImporting ["), "\(bars.debugDescription)")
      #expect(bars.contains(" %\r\u{1B}[KBrought in 1 item"), "\(bars.debugDescription)")
    }
  }
}
