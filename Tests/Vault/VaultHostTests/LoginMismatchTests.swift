import Glibc
import Primitives
import ProgramDriver
import SecretModel
import Settings
import Testing
import VaultDriver
import VaultHost

/// `whorl` as a client of the service, which this process serves, on a machine where root has set another login password.
@Suite(
  "A login password that differs from the passcode", .serialized,
  .enabled("only for root, with PAM", { try await LoginAccount.isPossible() }))
struct LoginMismatchTests {
  /// `whorl` and its service, with an item that each login delivers to a file.
  private struct Site {
    let service: RunningService
    let folder: String

    func whorl(
      _ words: [String], _ lines: [String] = [], as account: LoginAccount, _ environment: [String: String] = [:]
    ) async throws -> Invocation.Result {
      let usual = ["XDG_RUNTIME_DIR": "\(folder)/run", "HOME": folder, "PATH": "\(folder):/usr/bin:/bin"]
      return try await Invocation(
        program: "/usr/bin/unshare", arguments: account.words(words, with: service.folder),
        descriptors: lines.map { $0 + "\n" }, environment: usual.merging(environment) { $1 }
      ).run()
    }

    /// The outcome of a login with this password.
    func login(_ password: String) async throws -> LoginOutcome {
      let answer = try await service.logins.openSession(
        "c1", of: geteuid(), by: "gdm-password", password: SecretBytes(text: password))
      switch answer {
      case .settled(let outcome): return outcome
      case .trying(let task): return await task.value
      case .verifying: throw RunningService.Failed(what: "a finger is asked for")
      }
    }

    /// Closes the store, as a start of the machine does.
    func close() async throws {
      let connection = try service.connect()
      try await connection.open(.own).lock()
      await connection.close()
    }

    /// Writes a pinentry that gives these answers, one after another.
    func answer(_ words: [String]) throws {
      let script = """
        #!/bin/sh
        echo OK
        while read -r word rest; do
          case $word in
            SETDESC) echo "$rest" >>"\(folder)/asked" ;;
            GETPIN)
              echo "D $(head -n 1 "\(folder)/answers")"
              sed -i 1d "\(folder)/answers" ;;
          esac
          echo OK
        done

        """
      try writeFile("\(folder)/pinentry", Array(script.utf8))
      chmod("\(folder)/pinentry", 0o700)
      try writeFile("\(folder)/answers", Array(words.map { $0 + "\n" }.joined().utf8))
    }
  }

  /// A site where the login password was proven to be the passcode, and an account whose password was changed since.
  private func with(_ body: (Site, LoginAccount) async throws -> Void) async throws {
    let service = try RunningService()
    try await service.makeStore()
    try await withFolder { folder in
      mkdir("\(folder)/run", 0o700)
      let site = Site(service: service, folder: folder)
      let before = try LoginAccount(RunningService.passcode, in: folder)
      let set = ["set", "key", "--access", "none", "--accessible", "after-first-unlock", "--passcode-fd", "3"]
      try await site.whorl(set, [RunningService.passcode], as: before).mustSucceed()
      try await site.whorl(["login", "add", "key", "--to", "file:key"], as: before).mustSucceed()
      let enabled = try await site.whorl(
        ["login", "enable", "passcode", "--password-fd", "3"], [RunningService.passcode], as: before)
      #expect(enabled.status == 0, "\(enabled.diagnostics)")
      let status = try await site.whorl(["login", "status"], as: before)
      #expect(status.text.contains("your login password is the passcode"), "\(status.text)\(status.diagnostics)")
      try await body(site, LoginAccount(LoginAccount.password, in: folder))
    }
    try await service.end()
  }

  @Test("whorl login status and doctor report that login password and passcode differ, until they are the same again")
  func told() async throws {
    try await with { site, account in
      try await site.close()
      #expect(try await site.login(LoginAccount.password) == .notPasscode)
      let status = try await site.whorl(["login", "status"], as: account)
      #expect(status.text.contains("are two different passwords") && status.text.contains("login enable passcode"))
      let json = try await site.whorl(["login", "status", "--json"], as: account)
      #expect(json.text.contains(#""isLoginPassword":false"#), "\(json.text)")
      let doctor = try await site.whorl(["doctor"], as: account)
      #expect(
        doctor.text.contains("fail  login password: your login password and the passcode are two"), "\(doctor.text)")
      #expect(doctor.status != 0)
      let mended = try await site.whorl(
        ["login", "enable", "passcode", "--password-fd", "3", "--change-passcode", "--passcode-fd", "4"],
        [LoginAccount.password, RunningService.passcode], as: account)
      #expect(mended.status == 0, "\(mended.diagnostics)")
      let after = try await site.whorl(["login", "status"], as: account)
      #expect(after.text.contains("your login password is the passcode"), "\(after.text)")
      try await site.close()
      #expect(try await site.login(LoginAccount.password) == .open)
    }
  }

  @Test("whorl login open makes a differing login password the passcode, asking for both until they are right")
  func mended() async throws {
    try await with { site, account in
      try await site.close()
      #expect(try await site.login(LoginAccount.password) == .notPasscode)
      try site.answer(["mistyped", RunningService.passcode, "mistyped", LoginAccount.password])
      let opened = try await site.whorl(["login", "open", "--if-closed"], as: account, ["DISPLAY": ":7"])
      #expect(opened.status == 0, "\(opened.diagnostics)")
      #expect(access("\(site.folder)/run/whorl-login/key", F_OK) == 0)
      let asked = String(decoding: try readFile("\(site.folder)/asked"), as: UTF8.self)
      #expect(asked.ranges(of: "Your login password is not your Whorl passcode").count == 2, "\(asked)")
      #expect(asked.ranges(of: "Type your login password").count == 2, "\(asked)")
      let status = try await site.whorl(["login", "status"], as: account)
      #expect(status.text.contains("your login password is the passcode"), "\(status.text)")
      try await site.close()
      #expect(try await site.login(LoginAccount.password) == .open)
    }
  }

  @Test("whorl login open opens the store with the passcode if nobody knows the differing login password")
  func unmended() async throws {
    try await with { site, account in
      try await site.close()
      #expect(try await site.login(LoginAccount.password) == .notPasscode)
      try site.answer([RunningService.passcode, "a", "b", "c"])
      let opened = try await site.whorl(["login", "open", "--if-closed"], as: account, ["DISPLAY": ":7"])
      #expect(opened.status == 0, "\(opened.diagnostics)")
      #expect(access("\(site.folder)/run/whorl-login/key", F_OK) == 0)
      let status = try await site.whorl(["login", "status"], as: account)
      #expect(status.text.contains("are two different passwords"), "\(status.text)")
      // Nothing is asked if the store is open.
      let again = try await site.whorl(["login", "open", "--if-closed"], as: account, ["DISPLAY": ":7"])
      #expect(again.status == 0 && again.diagnostics.isEmpty, "\(again.diagnostics)")
    }
  }
}
