import ProgramDriver
import Testing
import VaultDriver

/// A store that is closed until the passcode is given: as in the service after a start of the machine, here at every
/// command.
@Suite("A store that needs its passcode first")
struct FirstUnlockTests {
  private func with(_ body: (TestStore) async throws -> Void) async throws {
    try await TestStore.with { store in
      try await store.set("open", "of open", "--access", "none")
      try await store.set("mail", "of mail", "--access", "presence")
      try await makeWaitForPasscode(storeAt: store.directory, passcode: TestStore.passcode)
      try await body(store)
    }
  }

  @Test(
    "get at a terminal unlocks a closed store with one prompt, also for an item that itself needs the passcode",
    arguments: ["open", "mail"])
  func atTerminal(_ item: String) async throws {
    try await with { store in
      let terminal = try PseudoTerminal(store.arguments(["get", item, "--reason", "send a letter"]))
      try await terminal.waits(for: "Passcode to unlock the store, and then send a letter: ")
      try await terminal.becomes(echoing: false)
      terminal.type(TestStore.passcode + "\n")
      try await terminal.waits(for: "of \(item)")
      #expect(try await terminal.status() == 0)
      #expect(terminal.shown.ranges(of: "Passcode").count == 1, "\(terminal.shown)")
      #expect(!terminal.shown.contains("are closed"))
    }
  }

  @Test("a closed store stays closed if the person cancels the passcode prompt")
  func cancelled() async throws {
    try await with { store in
      let terminal = try PseudoTerminal(store.arguments(["get", "open"]))
      try await terminal.waits(for: "Passcode to unlock the store: ")
      try await terminal.becomes(echoing: false)
      terminal.type("\u{4}")
      #expect(try await terminal.status() == 77)
      #expect(!terminal.shown.contains("of open"))
    }
  }

  @Test("run asks for the passcode of a closed store again after a wrong one, and continues after the right one")
  func wrongOnce() async throws {
    try await with { store in
      let words = ["run", "--env", "A=open", "--", "/bin/sh", "-c", "echo has $A"]
      let terminal = try PseudoTerminal(store.arguments(words))
      try await terminal.waits(for: "and then run /bin/sh: ")
      try await terminal.becomes(echoing: false)
      terminal.type("wrong\n")
      try await terminal.waits(for: "Wrong passcode. ")
      try await terminal.becomes(echoing: false)
      terminal.type(TestStore.passcode + "\n")
      try await terminal.waits(for: "has of open")
      #expect(try await terminal.status() == 0)
    }
  }

  @Test("a script's passcode unlocks a closed store in every command that needs it")
  func script() async throws {
    try await with { store in
      let got = try await store.unlocked("get", "open", "mail", "--null")
      #expect(got.status == 0 && got.text == "of open\0of mail\0", "\(got.diagnostics)")
      let ran = try await store.unlocked("run", "--env", "A=open", "--", "/bin/sh", "-c", "echo $A")
      #expect(ran.text == "of open\n", "\(ran.diagnostics)")
      let set = try await store.unlocked("set", "new", "--access", "none", input: Array("of new".utf8))
      #expect(set.status == 0, "\(set.diagnostics)")
      try await store.unlocked("key").mustSucceed()
      try await store.unlocked("ssh", "add", "work").mustSucceed()
      let again = try await store.unlocked("set", "login", "--access", "none", "--accessible", "after-first-unlock")
      #expect(again.status == 0, "\(again.diagnostics)")
      try await store.unlocked("login", "add", "login", "--to", "file:login").mustSucceed()
      let gated = try await store.unlocked(
        "secret-service", "gate", "--program", "/bin/sh", "--access", "presence", "--yes")
      #expect(gated.status == 0, "\(gated.diagnostics)")
      let git = "protocol=https\nhost=forge.test\nusername=ann\npassword=one\n"
      try await store.unlocked("git-credential", "store", "--access", "none", input: Array(git.utf8)).mustSucceed()
      let signed = try await store.unlocked(
        "git-credential", "get", input: Array("protocol=https\nhost=forge.test\n".utf8))
      #expect(signed.text.contains("password=one"), "\(signed.diagnostics)")
      let docker = try await store.unlocked(
        "docker-credential", "store", "--access", "none",
        input: Array(#"{"ServerURL":"https://registry.test","Username":"ann","Secret":"two"}"#.utf8))
      #expect(docker.status == 0, "\(docker.diagnostics)")
      let read = try await store.unlocked("docker-credential", "get", input: Array("https://registry.test".utf8))
      #expect(read.text.contains("two"), "\(read.diagnostics)")
      try writeFile("\(store.folder)/list.csv", Array("title,username,password\nx,y,z\n".utf8))
      let imported = try await store.unlocked("import", "--from", "csv", "\(store.folder)/list.csv", "--yes")
      #expect(imported.status == 0, "\(imported.diagnostics)")
      // The public key of an existing key is printed without asking.
      let key = try await store.whorl("key")
      #expect(key.status == 0 && key.text.hasPrefix("age1"), "\(key.diagnostics)")
    }
  }

  @Test("a command reports a closed store if there is no terminal, or prompts are not allowed")
  func nobody() async throws {
    try await with { store in
      let words: [[String]] = [
        ["get", "open"], ["get", "mail"], ["run", "--env", "A=open", "--", "/bin/true"], ["ssh", "add", "x"], ["key"],
        ["secret-service", "gate", "--program", "/bin/sh", "--access", "presence", "--yes"],
      ]
      for command in words {
        let closed = try await Invocation(arguments: store.arguments(command)).run()
        #expect(closed.status == 77 && closed.failure.contains("are closed"), "\(command): \(closed.diagnostics)")
      }
      let terminal = try PseudoTerminal(store.arguments(["get", "open", "--no-prompt"]))
      #expect(try await terminal.status() == 77)
      #expect(terminal.shown.contains("are closed") && !terminal.shown.contains("Passcode"), "\(terminal.shown)")
      let quiet = try await store.unlocked("get", "open", "--no-prompt")
      #expect(quiet.status == 77 && quiet.failure.contains("are closed"), "\(quiet.diagnostics)")
    }
  }

  @Test("whorl login open --if-closed unlocks a closed store, and does nothing if nothing is enabled")
  func atDesktop() async throws {
    try await with { store in
      let environment = ["XDG_RUNTIME_DIR": store.folder, "HOME": store.folder]
      func open(_ passcode: String) async throws -> Invocation.Result {
        try await Invocation(
          arguments: store.arguments(["login", "open", "--if-closed", "--passcode-fd", "3"]),
          descriptors: [passcode + "\n"], environment: environment
        ).run()
      }
      let nothing = try await open("wrong")
      #expect(nothing.status == 0 && nothing.diagnostics.isEmpty, "\(nothing.diagnostics)")
      let set = try await store.unlocked(
        "set", "login", "--access", "none", "--accessible", "after-first-unlock", input: Array("of login".utf8))
      try set.mustSucceed()
      try await store.unlocked("login", "add", "login", "--to", "file:login").mustSucceed()
      #expect(try await open("wrong").status == 77)
      let opened = try await open(TestStore.passcode)
      #expect(opened.status == 0, "\(opened.diagnostics)")
      #expect(try readFile("\(store.folder)/whorl-login/login") == Array("of login".utf8))
    }
  }
}
