import Glibc
import ProgramDriver
import Testing

@Suite("whorl setup --undo, and whorl alone")
struct SetupUndoTests {
  @Test(
    "whorl setup --undo lists, asks and undoes, names what only the store has, and removes it only after the word",
    arguments: ["delete", "", "y", "Delete"])
  func undone(_ answer: String) async throws {
    let removesStore = answer == "delete"
    try await TestStore.setUp { store, home in
      let terminal = try PseudoTerminal(store.arguments(["setup", "--undo"]), environment: home)
      try await terminal.waits(for: "Go on? [y/N]")
      #expect(terminal.shown.contains("undo: whorl ssh disable --store \(store.directory)"), "\(terminal.shown)")
      #expect(terminal.shown.contains("undo: git config --global --unset-all credential.helper '^(whorl( |$)|"))
      terminal.type("y\n")
      try await terminal.waits(for: "To delete all of this for good, type delete. Enter keeps it:")
      #expect(
        terminal.shown.contains("Only in the store, and nowhere else that Whorl knows of:\r\n  work\r\n"),
        "\(terminal.shown)")
      terminal.type("\(answer)\n")
      #expect(try await terminal.status() == 0)
      #expect((access(store.directory, F_OK) == 0) != removesStore)
      #expect(
        terminal.shown.contains("The store stays, with its passcode, its fingers and what is in it.") != removesStore)
      if !removesStore {
        #expect(terminal.shown.contains("\r\n  whorl setup --undo --store \(store.directory)\r\n"), "\(terminal.shown)")
      }
      let git = String(decoding: try readFile("\(store.folder)/.gitconfig"), as: UTF8.self)
      #expect(!git.contains("whorl"))
      if !removesStore { #expect(try await store.isSetUp(home) == [true, false, false]) }
    }
  }

  @Test("whorl setup --undo undoes nothing after a no; with --yes it does not ask, and keeps the store")
  func asked() async throws {
    try await TestStore.setUp { store, home in
      let terminal = try PseudoTerminal(store.arguments(["setup", "--undo"]), environment: home)
      try await terminal.waits(for: "Go on? [y/N]")
      terminal.type("n\n")
      #expect(try await terminal.status() == 77)
      #expect(try await store.isSetUp(home) == [true, true, true])
      let nobody = try await store.whorl("setup", "--undo", environment: home)
      #expect(nobody.status == 77 && nobody.failure.contains("--yes"), "\(nobody.failure)")
      let told = try await store.whorl("setup", "--undo", "--yes", environment: home)
      #expect(told.status == 0, "\(told.diagnostics)")
      #expect(told.diagnostics.contains("The store stays"))
      #expect(try await store.isSetUp(home) == [true, false, false])
    }
  }

  @Test("whorl setup --undo continues if one step cannot be undone, names that step, and keeps the store")
  func inPart() async throws {
    try await TestStore.setUp { store, home in
      let script = "#!/bin/sh\n[ \"$4\" = --get-all ] || [ \"$3\" = --get-all ] || exit 5\n"
      try writeFile("\(store.folder)/bin/git", Array(script.utf8))
      chmod("\(store.folder)/bin/git", 0o755)
      let told = try await store.whorl("setup", "--undo", "--yes", environment: home)
      #expect(told.status == 69, "\(told.diagnostics)")
      #expect(told.failure.contains("above: git config --global --unset-all credential.helper "), "\(told.failure)")
      #expect(told.failure.contains("put that right and run 'whorl setup --undo' again"))
      #expect(told.diagnostics.contains("The store stays"))
      #expect(try await store.isSetUp(home) == [true, false, true])
    }
  }

  @Test("whorl setup --undo says that nothing is set up, and whorl without arguments says what to do")
  func nothing() async throws {
    try await withFolder { folder in
      let home = ["HOME": folder, "XDG_RUNTIME_DIR": folder, "XDG_DATA_HOME": "\(folder)/data"]
      let undone = try await Invocation(arguments: ["setup", "--undo", "--yes"], environment: home).run()
      #expect(undone.status == 0 && undone.diagnostics == "Nothing is set up.\n", "\(undone.diagnostics)")
      let terminal = try PseudoTerminal([], environment: home)
      #expect(try await terminal.status() == 0)
      let lines = terminal.shown.split(separator: "\r\n")
      #expect(lines.count == 5, "\(terminal.shown)")
      #expect(lines.first == "Store     none yet")
      #expect(lines.last?.hasPrefix("Next      whorl setup sets everything up") == true)
      // In a pipe it is the help, as ever.
      let piped = try await Invocation(arguments: [], environment: home).run()
      #expect(piped.status == 0 && piped.text.contains("USAGE: whorl"), "\(piped.text)")
    }
  }

  @Test("whorl without arguments at a terminal shows in five lines what is on and what is left")
  func overview() async throws {
    try await TestStore.setUp { store, home in
      let places = home.merging(["XDG_CONFIG_HOME": "\(store.folder)/config"]) { $1 }
      _ = mkdirPrivate("\(store.folder)/config/whorl")
      try writeFile("\(store.folder)/config/whorl/config.json", Array(#"{"store": "\#(store.directory)"}"#.utf8))
      let terminal = try PseudoTerminal([], environment: places)
      #expect(try await terminal.status() == 0)
      let lines = terminal.shown.split(separator: "\r\n")
      #expect(lines.count == 5, "\(terminal.shown)")
      #expect(lines.contains("Store     1 item"))
      #expect(lines.contains("Passcode  set"))
      #expect(lines.contains("On        ssh, git"))
      #expect(lines.last?.hasPrefix("Next      whorl set mail/me stores a secret") == true, "\(terminal.shown)")
    }
  }
}
