import ProgramDriver
import Testing

@Suite("The progress of export and import")
struct ProgressTests {
  @Test("the progress of export is shown only on a terminal, and not with --quiet")
  func bar() async throws {
    try await TestStore.withoutPasscode { store in
      try await store.set("one", "secret", "--access", "none")
      let passphrase = "\(store.folder)/passphrase"
      try writeFile(passphrase, Array("a long passphrase\n".utf8))
      func words(_ words: [String]) -> [String] { store.arguments(words + ["--passphrase-fd", "0"]) }
      let piped = try await Invocation(
        arguments: words(["export", "\(store.folder)/piped.age"]), input: Array("a long passphrase\n".utf8)
      ).run()
      #expect(piped.status == 0 && !piped.diagnostics.contains("["), "\(piped.diagnostics)")
      for (quiet, file) in [(false, "shown.age"), (true, "quiet.age")] {
        let terminal = try PseudoTerminal(
          words(["export", "\(store.folder)/\(file)"] + (quiet ? ["--quiet"] : [])), input: passphrase)
        #expect(try await terminal.status() == 0, "\(terminal.shown)")
        #expect(terminal.shown.contains("Exporting [####") != quiet, "\(terminal.shown)")
        #expect(terminal.shown.contains("Exported 1 item"), "\(terminal.shown)")
      }
    }
  }
}
