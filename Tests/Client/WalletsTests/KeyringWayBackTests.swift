import ProgramDriver
import Testing
import VaultDriver

/// A keyring that will be opened only by logins gets its secret after the way to open it was tried.
@Suite(
  "Changing the keyring's password to a random secret, with a way back", .withKeyring,
  .enabled("only for root, with PAM", { try await LoginAccount.isPossible() }), .serialized)
struct KeyringWayBackTests {
  private func words(_ store: TestStore, _ more: String...) -> [String] {
    store.arguments(["login", "enable", "gnome-keyring", "--anyway"] + more)
  }

  private func environment(_ daemon: KeyringDaemon) -> [String: String] {
    ["XDG_DATA_HOME": "\(daemon.folder)/data", "XDG_RUNTIME_DIR": daemon.runtime, "HOME": daemon.folder]
  }

  @Test("whorl login enable gnome-keyring is refused without the right recovery key, and changes nothing")
  func recoveryKey() async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        let account = try LoginAccount(TestStore.passcode, in: store.folder)
        let files = daemon.files
        let none = try await account.whorl(
          words(store, "--password-fd", "3"), [KeyringDaemon.password], environment: environment(daemon))
        #expect(none.status == 77 && none.failure.contains("--recovery-fd"), "\(none.diagnostics)")
        for key in ["not a recovery key", try await TestStore.withoutPasscode({ $0.recoveryKey })] {
          let wrong = try await account.whorl(
            words(store, "--password-fd", "3", "--recovery-fd", "4"), [KeyringDaemon.password, key],
            environment: environment(daemon))
          #expect(wrong.status == 77 && wrong.failure.contains("recovery key"), "\(wrong.diagnostics)")
        }
        #expect(daemon.files == files)
        #expect(try await store.whorl("login", "ls").text.isEmpty)
        #expect(try await daemon.fileOpens(with: KeyringDaemon.password))
      }
    }
  }

  @Test("whorl login enable gnome-keyring is refused unless the login password is the passcode")
  func loginPassword() async throws {
    try await TestStore.with { store in
      try await KeyringDaemon.with { daemon in
        let before = try LoginAccount(TestStore.passcode, in: store.folder)
        try await before.whorl(
          store.arguments(["login", "enable", "passcode", "--passcode-fd", "3"]), [TestStore.passcode]
        ).mustSucceed()
        try await makeWaitForPasscode(storeAt: store.directory, passcode: TestStore.passcode)
        func enable(_ account: LoginAccount, _ password: String) async throws -> Invocation.Result {
          try await account.whorl(
            words(store, "--password-fd", "3", "--recovery-fd", "4"),
            ["\(KeyringDaemon.password)|\(password)", store.recoveryKey], environment: environment(daemon))
        }
        // Root has set another password since.
        let after = try LoginAccount(LoginAccount.password, in: store.folder)
        let mismatched = try await enable(after, LoginAccount.password)
        #expect(mismatched.status == 77, "\(mismatched.diagnostics)")
        #expect(mismatched.failure.contains("your login password is not the passcode"))
        #expect(mismatched.failure.contains("whorl login enable passcode"))
        let mistaken = try await enable(after, TestStore.passcode)
        #expect(mistaken.status == 77 && mistaken.failure.contains("that is the passcode of your secrets"))
        #expect(try await daemon.fileOpens(with: KeyringDaemon.password))

        let again = try LoginAccount(TestStore.passcode, in: store.folder)
        let enabled = try await enable(again, TestStore.passcode)
        #expect(enabled.status == 0, "\(enabled.diagnostics)")
        #expect(try await !daemon.fileOpens(with: KeyringDaemon.password))
        let disabled = try await store.whorl("login", "disable", "passcode", environment: environment(daemon))
        #expect(disabled.status == 77 && disabled.failure.contains("no login would open it"), "\(disabled.diagnostics)")
      }
    }
  }
}
