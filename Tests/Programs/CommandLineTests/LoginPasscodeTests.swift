import ProgramDriver
import Testing

@Suite(
  "The login password as the passcode", .enabled("only for root, with PAM", { try await LoginAccount.isPossible() }))
struct LoginPasscodeTests {
  private static let enabling = ["login", "enable", "passcode"]

  private func isChosen(_ store: TestStore) async throws -> Bool {
    try await store.whorl("login", "ls").text.contains("passcode")
  }

  private func opens(_ store: TestStore, _ passcode: String) async throws -> Bool {
    try await Invocation(
      arguments: store.arguments(["unlock", "--passcode-fd", "3"]), descriptors: [passcode + "\n"]
    ).run().status == 0
  }

  @Test("whorl login enable passcode accepts a password that opens both the account and the store")
  func both() async throws {
    try await TestStore.with { store in
      let account = try LoginAccount(TestStore.passcode, in: store.folder)
      let enabled = try await account.whorl(
        store.arguments(Self.enabling + ["--passcode-fd", "3"]), [TestStore.passcode])
      #expect(enabled.status == 0, "\(enabled.diagnostics)")
      #expect(try await isChosen(store))
      let status = try await store.whorl("login", "status")
      #expect(status.text.contains("your login password is the passcode") && !status.text.contains("two different"))
      try await store.whorl("login", "disable", "passcode").mustSucceed()
      #expect(try await !isChosen(store))
    }
  }

  @Test("login enable passcode refuses a password that opens only the account or only the store, and says which")
  func oneAlone() async throws {
    try await TestStore.with { store in
      let account = try LoginAccount(LoginAccount.password, in: store.folder)
      func refusal(_ word: String) async throws -> String {
        let refused = try await account.whorl(store.arguments(Self.enabling + ["--password-fd", "3"]), [word])
        #expect(refused.status == 77, "\(refused.diagnostics)")
        return refused.failure
      }
      let passcode = try await refusal(TestStore.passcode)
      #expect(passcode.contains("that is the passcode of your secrets, and not your login password"))
      #expect(try await refusal("neither").contains("neither your login password nor the passcode of your secrets"))
      let login = try await refusal(LoginAccount.password)
      #expect(login.contains("the passcode of your secrets is another one") && login.contains("--change-passcode"))
      #expect(try await refusal("").contains("neither"))
      #expect(try await !isChosen(store))
      #expect(try await opens(store, TestStore.passcode))
    }
  }

  @Test("whorl login enable passcode --change-passcode makes the login password the passcode, given the old one")
  func changed() async throws {
    try await TestStore.with { store in
      let account = try LoginAccount(LoginAccount.password, in: store.folder)
      let words = store.arguments(
        Self.enabling + ["--password-fd", "3", "--change-passcode", "--passcode-fd", "4"])
      let wrong = try await account.whorl(words, [LoginAccount.password, "wrong"])
      #expect(wrong.status == 77, "\(wrong.diagnostics)")
      #expect(try await !isChosen(store))
      let changed = try await account.whorl(words, [LoginAccount.password, TestStore.passcode])
      #expect(changed.status == 0, "\(changed.diagnostics)")
      #expect(try await isChosen(store))
      #expect(try await opens(store, LoginAccount.password))
      #expect(try await !opens(store, TestStore.passcode))
    }
  }

  @Test("login enable passcode makes the login password the passcode after a yes, without another passcode prompt")
  func changedAtTerminal() async throws {
    try await TestStore.with { store in
      let account = try LoginAccount(LoginAccount.password, in: store.folder)
      let terminal = try PseudoTerminal(
        account.words(store.arguments(Self.enabling)), program: "/usr/bin/unshare")
      try await terminal.waits(for: "The login password: ")
      try await terminal.becomes(echoing: false)
      terminal.type(TestStore.passcode + "\n")
      try await terminal.waits(for: "That is the passcode of your secrets, and not your login password.")
      try await terminal.waits(for: "The login password: ", count: 2)
      try await terminal.becomes(echoing: false)
      terminal.type(LoginAccount.password + "\n")
      try await terminal.waits(for: "Make your login password the passcode? [y/N]")
      terminal.type("y\n")
      try await terminal.waits(for: "The passcode is your login password now.")
      #expect(try await terminal.status() == 0, "\(terminal.shown)")
      #expect(!terminal.shown.contains("\nPasscode"))
      #expect(try await opens(store, LoginAccount.password))
      #expect(try await isChosen(store))
    }
  }

  @Test("whorl login enable passcode at a terminal changes and enables nothing after a no")
  func kept() async throws {
    try await TestStore.with { store in
      let account = try LoginAccount(LoginAccount.password, in: store.folder)
      let terminal = try PseudoTerminal(
        account.words(store.arguments(Self.enabling)), program: "/usr/bin/unshare")
      try await terminal.waits(for: "The login password: ")
      try await terminal.becomes(echoing: false)
      terminal.type(LoginAccount.password + "\n")
      try await terminal.waits(for: "Make your login password the passcode? [y/N]")
      terminal.type("n\n")
      try await terminal.waits(for: "your login password and the passcode are still different")
      #expect(try await terminal.status() == 77)
      #expect(try await opens(store, TestStore.passcode))
      #expect(try await !isChosen(store))
    }
  }

  @Test("whorl login enable passcode refuses a password that PAM cannot pass on: 512 bytes, a zero byte or empty")
  func unpassable() async throws {
    try await TestStore.with { store in
      let here = try LoginAccount(TestStore.passcode, in: store.folder)
      let longer = try await here.whorl(
        store.arguments(Self.enabling + ["--password-fd", "3"]), ["\(TestStore.passcode)\0more"])
      #expect(longer.status == 77 && longer.failure.contains("neither"), "\(longer.diagnostics)")

      // Without PAM's own check.
      let elsewhere = try LoginAccount(TestStore.passcode, isHere: false, in: store.folder)
      func enable(_ word: String) async throws -> Invocation.Result {
        try await elsewhere.whorl(store.arguments(Self.enabling + ["--password-fd", "3"]), [word])
      }
      let none = try await enable("")
      #expect(none.status == 77 && none.failure.contains("neither"), "\(none.diagnostics)")
      var passcode = TestStore.passcode
      for (length, isPassable) in [(512, false), (511, true)] {
        let next = String(String(repeating: "correct horse battery staple, ", count: 18).prefix(length))
        try await Invocation(
          arguments: store.arguments(TestStore.withPasscode(["passcode"])), descriptors: ["\(passcode)\n\(next)\n"]
        ).run().mustSucceed()
        passcode = next
        let enabled = try await enable(passcode)
        #expect((enabled.status == 0) == isPassable, "\(length): \(enabled.diagnostics)")
        #expect(try await isChosen(store) == isPassable)
      }
    }
  }

  @Test("whorl login enable passcode takes a password that is not in the local files as unproven until a login")
  func elsewhere() async throws {
    try await TestStore.with { store in
      let account = try LoginAccount(TestStore.passcode, isHere: false, in: store.folder)
      func enable(_ word: String) async throws -> Invocation.Result {
        try await account.whorl(store.arguments(Self.enabling + ["--password-fd", "3"]), [word])
      }
      let other = try await enable("another")
      #expect(other.status == 77 && other.failure.contains("does not open your secrets"), "\(other.diagnostics)")
      let enabled = try await enable(TestStore.passcode)
      #expect(enabled.status == 0 && enabled.diagnostics.contains("could not be checked"), "\(enabled.diagnostics)")
      let status = try await store.whorl("login", "status", "--json")
      #expect(!status.text.contains("isLoginPassword"))
      #expect(status.text.contains("has not opened your secrets at a login yet"))
    }
  }

  @Test("whorl passcode and login status say that the login password has to be changed, too, if it was the passcode")
  func passcodeChanged() async throws {
    try await TestStore.with { store in
      let account = try LoginAccount(TestStore.passcode, in: store.folder)
      try await account.whorl(store.arguments(Self.enabling + ["--passcode-fd", "3"]), [TestStore.passcode])
        .mustSucceed()
      let changed = try await store.unlocked("passcode", more: ["another passcode"])
      #expect(changed.status == 0)
      #expect(changed.diagnostics.contains("'passwd' changes both"))
      #expect(changed.diagnostics.contains("whorl login enable passcode"))
      let status = try await store.whorl("login", "status", "--json")
      #expect(!status.text.contains("isLoginPassword"))
      #expect(status.text.contains("has not opened your secrets at a login yet"))
    }
  }
}
