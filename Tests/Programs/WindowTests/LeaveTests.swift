import Glibc
import ProgramDriver
import Testing

@Suite("Leaving Whorl in the window")
struct LeaveTests {
  private func shown(
    _ store: TestStore, _ home: [String: String], page: String = "setup",
    _ body: (WindowOnDisplay) async throws -> Void
  ) async throws {
    try await WindowOnDisplay.with(
      ["--store", store.directory, "--page", page], in: store.folder, more: home, body)
  }

  @Test("The window shows what goes back and what is nowhere else, goes on after a failure, and ends with where it is")
  func resumed() async throws {
    try await TestStore.setUp { store, home in
      let lock = "\(store.folder)/.gitconfig.lock"
      try await shown(store, home) { window in
        try await window(
          .press("Show how to leave Whorl"), .see("Nothing Is Changed Yet"), .see("Only in Whorl"), .see("work"))
        let texts = try await window.texts()
        #expect(texts.contains { $0.hasPrefix("git asks for passwords as before.") }, "\(texts)")
        #expect(texts.contains { $0.hasPrefix("ssh uses the keys and the agent from before.") }, "\(texts)")
        #expect(try await store.isSetUp(home) == [true, true, true])
        // git cannot write its file.
        try writeFile(lock, [])
        try await window(.press("Take Everything Back"), .see("Not Everything Is Back"), .see("Look Again"))
        #expect(try await window.unnamed() == [])
        #expect(try await store.isSetUp(home) == [true, false, true])
        try await window(.press("Close"))
        try await window.hasEnded()
      }
      unlink(lock)
      try await shown(store, home, page: "secrets") { window in
        try await window(.press("Main Menu"), .press("Leave Whorl"), .see("Nothing Is Changed Yet"))
        #expect(try await !window.texts().contains { $0.hasPrefix("ssh uses the keys") })
        try await window(.press("Take Everything Back"), .see("Where It Is Now"))
        #expect(try await window.texts().contains { $0.contains("Does not ask Whorl for passwords.") })
        #expect(try await store.isSetUp(home) == [true, false, false])
        try await window(.press("Keep My Secrets"), .see("No Secrets Yet"))
        #expect(access(store.directory, F_OK) == 0)
      }
    }
  }

  @Test("What exists nowhere else is deleted only after its word was typed, and is gone then")
  func removed() async throws {
    try await TestStore.enrolled { store in
      let services = try UserServicesStandIn(in: store.folder)
      try await shown(store, services.environment()) { window in
        let (word, delete) = ("To delete it, type delete", "Delete")
        try await window(
          .press("Show how to leave Whorl"), .see("Nothing Is Turned On"), .see("any-finger"),
          .press("Remove My Secrets"), .see(word), .unusable(delete), .type("yes", into: word), .unusable(delete),
          .type("delete", into: word), .press("Cancel"), .see("Your Secrets Stay"))
        #expect(try await store.unlocked("get", "presence").text == "presence")
        // What comes meanwhile, nobody has agreed to lose.
        try await window(.press("Remove My Secrets"), .see(word), .type("delete", into: word))
        try await store.set("new", "later")
        try await window(.press(delete), .see("Your Secrets Stay"))
        #expect(try await store.unlocked("get", "new").text == "later")
        try await window(
          .press("Remove My Secrets"), .see(word), .type("delete", into: word), .press(delete),
          .see("You Have Left Whorl"))
        #expect(access(store.directory, F_OK) != 0)
        try await window(.press("Back to Whorl"), .see("Set Up"))
      }
    }
  }

  private static let mail = SecretServiceStandIn.Item(
    label: "Mail", attributes: ["name": "Mail"], secret: Array("only in Whorl".utf8))

  @Test("The passwords of programs are back in the program that had them before the window offers to remove the store")
  func passwords() async throws {
    try await TestStore.with { store in
      let services = try UserServicesStandIn(in: store.folder)
      try await shown(store, services.environment()) { window in
        let home = services.environment(["DBUS_SESSION_BUS_ADDRESS": window.bus.address])
        let before = try await SecretServiceStandIn(on: window.bus, aliases: ["default": "/collection"], [Self.mail])
        try await store.whorl("secret-service", "import", environment: home).mustSucceed()
        try await store.whorl("secret-service", "enable", environment: home).mustSucceed()
        before.close()
        // A keyring that nobody can open: its question is closed.
        let locked = try await SecretServiceStandIn(
          on: window.bus, prompt: .dismissed, aliases: ["default": "/collection"], changes: .made, [])
        try await window(
          .press("Show how to leave Whorl"), .see("Passwords of Your Programs"), .press("Take Everything Back"),
          .see("Not Everything Is Back"))
        locked.close()
        let other = try await SecretServiceStandIn(
          on: window.bus, aliases: ["default": "/collection"], changes: .made, [])
        defer { other.close() }
        try await window(
          .press("Look Again"), .see("Nothing Is Changed Yet"), .press("Take Everything Back"), .see("Where It Is Now"))
        #expect(other.items.compactMap(\.self).map(\.secret) == [Array("only in Whorl".utf8)])
        let texts = try await window.texts()
        #expect(texts.contains { $0.contains("Copied 1 item that") && $0.contains("Mail") }, "\(texts)")
        try await window(
          .press("Remove My Secrets"), .see("Everything in Whorl was seen elsewhere."), .press("Continue"),
          .see("You Have Left Whorl"))
        #expect(access(store.directory, F_OK) != 0)
      }
    }
  }
}
