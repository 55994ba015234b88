import Glibc
import Primitives
import ProgramDriver
import SecretModel
import Synchronization
import Testing
import VaultDriver
import VaultHost

/// `whorl setup` as a client of the service, which this process serves, by a person who only presses Enter and types
/// passwords where they are asked for.
@Suite(
  "whorl setup by a person who only presses Enter", .serialized,
  .enabled("only for root, with PAM", { try await LoginAccount.isPossible() }))
struct ServiceSetupTests {
  /// How one setup ended.
  private struct Outcome {
    let status: Int32
    let shown: String
    /// How often the system was to ask for the login password.
    let authorizations: Int
    /// The passcode that opens the new store; nil where there is none.
    let opens: String?
  }

  /// Of a setup that makes a store: for the store, and for its first finger, which setup offers to enrol.
  private static let authorizations = 2

  /// Sets up on a machine that reports its logins, and types these words for the passcode, the last one again and again.
  private func setup(
    login: String, types words: [String], system: VaultError? = nil, key: String = ""
  ) async throws -> Outcome {
    let asked = Mutex(0)
    let service = try RunningService(authorizeOwner: { _, _ throws(VaultError) in
      asked.withLock { $0 += 1 }
      if let system { throw system }
    })
    let outcome = try await withFolder { folder in
      let account = try LoginAccount(login, in: folder)
      try account.reportLogins()
      try writeFile("\(folder)/config", Array(#"{"timeout": 1}"#.utf8))
      let terminal = try PseudoTerminal(
        account.words(["setup", "--config", "\(folder)/config"], with: service.folder), program: "/usr/bin/unshare",
        environment: ["HOME": folder, "XDG_RUNTIME_DIR": folder])
      var typed = 0
      let status = try await terminal.walks { line in
        switch line {
        case _ where line.hasPrefix("New passcode: "):
          typed += 1
          return words[min(typed, words.count) - 1]
        case _ where line.hasPrefix("New passcode, again: "): return words[min(typed, words.count) - 1]
        case _ where line.hasPrefix("Show it [Enter]"): return key.isEmpty ? "" : "\(folder)/\(key)"
        default: return ""
        }
      }
      var opens: String?
      let connection = try service.connect()
      if let store = try? await connection.open(.own) {
        for word in Set(words) where opens == nil {
          let person = Person(passcodes: [word])
          if (try? await person.with(store) { try await store.unlock(Asking(in: $0)) }) != nil { opens = word }
        }
      }
      await connection.close()
      return Outcome(
        status: status, shown: terminal.shown, authorizations: asked.withLock { $0 }, opens: opens)
    }
    try await service.end()
    return outcome
  }

  @Test("a login password that is hard to guess becomes the passcode, and the system asks once")
  func strong() async throws {
    let outcome = try await setup(login: LoginAccount.password, types: [LoginAccount.password], key: "key")
    #expect(outcome.opens == LoginAccount.password && outcome.authorizations == Self.authorizations, "\(outcome.shown)")
    #expect(outcome.shown.contains("the login password is the passcode"), "\(outcome.shown)")
  }

  @Test("an ordinary login password leads to a passcode of its own, and the system asks only after that is chosen")
  func weak() async throws {
    let outcome = try await setup(
      login: LoginAccount.weakPassword, types: [LoginAccount.weakPassword, "four odd words here"], key: "key")
    #expect(outcome.opens == "four odd words here" && outcome.authorizations == Self.authorizations, "\(outcome.shown)")
    #expect(outcome.shown.contains("Choose a passcode for Whorl alone"), "\(outcome.shown)")
    #expect(outcome.shown.ranges(of: "Use your login password?").count == 1)
  }

  @Test(
    "setup ends where every passcode is weak, short or empty, without a question of the system",
    arguments: [LoginAccount.weakPassword, "abc", "", "1234"])
  func unusable(_ word: String) async throws {
    let outcome = try await setup(login: LoginAccount.weakPassword, types: [word])
    #expect(outcome.status == 77 && outcome.opens == nil && outcome.authorizations == 0, "\(outcome.shown)")
    #expect(outcome.shown.contains("no passcode was chosen, and no store was made"), "\(outcome.shown)")
    #expect(outcome.shown.contains("'whorl setup' goes on from here"))
  }

  @Test("a word that is not the login password is told three times, and then becomes a passcode of its own")
  func wrong() async throws {
    let outcome = try await setup(login: LoginAccount.password, types: ["four odd words here"], key: "key")
    #expect(outcome.opens == "four odd words here" && outcome.authorizations == Self.authorizations, "\(outcome.shown)")
    #expect(outcome.shown.ranges(of: "That is not your login password").count == 3, "\(outcome.shown)")
  }

  @Test("setup ends where the system refuses each time, and where the recovery key is never typed back")
  func refused() async throws {
    let denied = try await setup(
      login: LoginAccount.password, types: [LoginAccount.password],
      system: .notAuthorized(.dismissed, action: "org.whorl.own"))
    #expect(denied.status == 77 && denied.authorizations == 3 && denied.opens == nil, "\(denied.shown)")
    let unwritten = try await setup(login: LoginAccount.password, types: [LoginAccount.password])
    #expect(unwritten.status == 77 && unwritten.opens == nil, "\(unwritten.shown)")
    #expect(unwritten.shown.contains("the recovery key was not typed back, so that no store was made"))
  }
}

@Suite("A passcode that the service does not take")
struct RefusedPasscodeTests {
  @Test("the service refuses a passcode that it does not take before it asks polkit, and a right one after it")
  func passcodeFirst() async throws {
    let asked = Mutex(0)
    let service = try RunningService(authorizeOwner: { _, _ throws(VaultError) in asked.withLock { $0 += 1 } })
    let connection = try service.connect()
    await #expect(throws: VaultError.guessablePasscode) {
      _ = try await connection.create(.own, passcode: SecretBytes(text: "sunshine7"))
    }
    await #expect {
      _ = try await connection.create(.own, passcode: SecretBytes(text: "abc"), allowsGuessable: true)
    } throws: {
      if case .invalidPasscode = $0 as? VaultError { true } else { false }
    }
    #expect(asked.withLock { $0 } == 0)
    _ = try await connection.create(.own, passcode: SecretBytes(text: "sunshine7"), allowsGuessable: true)
    #expect(asked.withLock { $0 } == 1)
    await connection.close()
    try await service.end()
  }
}
