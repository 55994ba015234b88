import Foundation
import Glibc
import Primitives
import ProgramDriver
import Synchronization
import Testing
import VaultDriver

@Suite("whorl git-credential")
struct GitCredentialTests {
  private static let place = "protocol=https\nhost=example.com:8443\n"

  /// Runs the command as git does.
  private func git(_ action: String, _ request: String, _ options: String..., in store: TestStore) async throws
    -> Invocation.Result
  {
    try await Invocation(
      arguments: store.arguments(["git-credential"] + options + [action]), input: Array(request.utf8)
    ).run()
  }

  @Test("whorl git-credential stores what git sends, and returns it with git's other fields")
  func roundTrip() async throws {
    try await TestStore.with { store in
      let stored = try await git(
        "store",
        Self.place + "username=ann\npassword=p=w ✓\npassword_expiry_utc=99999999999\noauth_refresh_token=again\n\n",
        "--access", "none", in: store)
      try stored.mustSucceed()
      #expect(stored.output.isEmpty)
      let got = try await git("get", Self.place + "wwwauth[]=Basic realm=x\n\n", in: store)
      #expect(
        got.text == "username=ann\npassword=p=w ✓\npassword_expiry_utc=99999999999\noauth_refresh_token=again\n")
      #expect(try await git("get", Self.place + "username=ann\n", in: store).text == got.text)
    }
  }

  @Test("whorl git-credential stores and returns an empty password and an empty user name like any other")
  func empty() async throws {
    try await TestStore.with { store in
      let nameless = Self.place + "username=\npassword=\n"
      try await git("store", nameless, "--access", "none", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).text == "username=\npassword=\n")
      #expect(try await git("get", Self.place + "username=\n", in: store).text == "username=\npassword=\n")
      #expect(try await git("get", Self.place + "username=ann\n", in: store).output.isEmpty)
      try await git("erase", Self.place + "username=\npassword=other\n", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).text == "username=\npassword=\n")
      try await git("erase", nameless, in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).output.isEmpty)
    }
  }

  @Test(
    "whorl git-credential returns nothing for another server, port, protocol, path or user",
    arguments: [
      "protocol=https\nhost=example.com\n", "protocol=https\nhost=example.com:844\n",
      "protocol=http\nhost=example.com:8443\n", "protocol=https\nhost=example.org:8443\n",
      // The name that the item has for https.
      "protocol=htps\nhost=example.com:8443\n",
      place + "username=bob\n", place + "path=other.git\n", "host=example.com:8443\n", "protocol=https\n", "",
    ])
  func others(_ request: String) async throws {
    try await TestStore.with { store in
      try await git("store", Self.place + "username=ann\npath=a.git\npassword=one\n", "--access", "none", in: store)
        .mustSucceed()
      let got = try await git("get", request, in: store)
      #expect(got.status == 0)
      #expect(got.output.isEmpty)
      #expect(try await git("get", Self.place + "path=a.git\n", in: store).text.contains("password=one"))
    }
  }

  @Test("whorl git-credential does not map the values of kSecAttrProtocol to git's protocols")
  func appleNames() async throws {
    try await TestStore.with { store in
      try await git("store", Self.place + "username=ann\npassword=one\n", "--access", "none", in: store).mustSucceed()
      let disguised = "protocol=htps\nhost=example.com:8443\nusername=ann\n"
      #expect(try await git("get", disguised, in: store).output.isEmpty)
      try await git("store", disguised + "password=planted\n", "--access", "none", in: store).mustSucceed()
      try await git("erase", disguised, in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).text == "username=ann\npassword=one\n")
    }
  }

  @Test("whorl git-credential prefers a password without a path, and among those the newest")
  func several() async throws {
    try await TestStore.with { store in
      for (user, extra) in [("old", ""), ("new", ""), ("deep", "path=a.git\n")] {
        try await git("store", Self.place + extra + "username=\(user)\npassword=x\n", "--access", "none", in: store)
          .mustSucceed()
        // Times of changes have a resolution of a millisecond.
        usleep(5_000)
      }
      #expect(try await git("get", Self.place, in: store).text.hasPrefix("username=new\n"))
      #expect(try await git("get", Self.place + "path=a.git\n", in: store).text.hasPrefix("username=deep\n"))
    }
  }

  @Test("whorl git-credential does not store a credential for one use, or replace a stored one by it")
  func ephemeral() async throws {
    try await TestStore.with { store in
      try await git("store", Self.place + "username=ann\npassword=one\n", "--access", "none", in: store).mustSucceed()
      try await git("store", Self.place + "username=ann\npassword=two\nephemeral=1\n", in: store).mustSucceed()
      #expect(try await git("get", Self.place, "--no-prompt", in: store).text == "username=ann\npassword=one\n")
      try await git("store", Self.place + "username=ann\npassword=three\nephemeral=False\n", in: store)
        .mustSucceed()
      #expect(try await git("get", Self.place, "--no-prompt", in: store).text == "username=ann\npassword=three\n")
    }
  }

  @Test("a line feed in an imported account name or secret adds no field to the answer of git-credential")
  func twoLines() async throws {
    try await TestStore.with { store in
      let key = try await store.whorl("key").text.dropLast()
      let contents = #"""
        {"format":"whorl-items","version":1}
        {"item":{"access":[],"accessible":"when-unlocked","attributes":{"srvr":{"text":"example.com"},\#
        "ptcl":{"text":"htps"},"port":{"number":8443},"acct":{"text":"ann\nhost=evil.example"},\#
        "agrp":{"text":"whorl"}},"class":"inet","secret":1}}
        x
        {"item":{"access":[],"accessible":"when-unlocked","attributes":{"srvr":{"text":"example.com"},\#
        "ptcl":{"text":"htps"},"port":{"number":8444},"acct":{"text":"bob"},\#
        "agrp":{"text":"whorl"}},"class":"inet","secret":19}}
        y
        host=evil.example
        {"end":2}

        """#
      let file = "\(store.folder)/file.age"
      try await Invocation(
        program: "/usr/bin/age", arguments: ["-r", String(key), "-o", file], input: Array(contents.utf8)
      ).run().mustSucceed()
      try await store.unlocked("import", file, "--yes").mustSucceed()
      let got = try await git("get", Self.place, "--no-prompt", in: store)
      #expect(got.text.isEmpty, "\(got.text)")
      let other = try await git("get", "protocol=https\nhost=example.com:8444\n", "--no-prompt", in: store)
      #expect(other.text == "username=bob\npassword=y\n", "\(other.text)")
    }
  }

  @Test("a git password that is stored again keeps its rule, and a new one needs a finger or the passcode")
  func keepsItsRule() async throws {
    try await TestStore.with { store in
      try await git("store", Self.place + "username=ann\npassword=one\n", "--access", "none", in: store).mustSucceed()
      try await git("store", Self.place + "username=ann\npassword=two\n", in: store).mustSucceed()
      #expect(try await git("get", Self.place, "--no-prompt", in: store).text == "username=ann\npassword=two\n")
      try await git("store", Self.place + "username=bob\npassword=three\n", in: store).mustSucceed()
      let refused = try await git("get", Self.place + "username=bob\n", "--no-prompt", in: store)
      #expect(refused.status == 77)
      #expect(refused.output.isEmpty)
    }
  }

  @Test("a finger releases a git password, after a prompt that names the server")
  func touch() async throws {
    try await TestStore.enrolled { store in
      try await git("store", Self.place + "username=ann\npassword=one\n", in: store).mustSucceed()
      let got = try await store.touched(["git-credential", "get"], [.right], input: Array(Self.place.utf8))
      #expect(got.text == "username=ann\npassword=one\n")
      #expect(got.diagnostics.contains("https://example.com:8443"))
    }
  }

  @Test("whorl git-credential asks again if the vault ends during the prompt", arguments: ["get", "erase"])
  func vaultEnds(_ action: String) async throws {
    try await TestStore.enrolled { store in
      let password = Self.place + "username=ann\npassword=one\n"
      try await git("store", password, in: store).mustSucceed()
      let touches = Touches(socket: store.socket, [.right])
      let isKilled = Mutex(false)
      let got = try await Invocation(
        arguments: store.arguments(["git-credential", action] + store.reader),
        input: Array((action == "get" ? Self.place : password).utf8)
      ).run { line, program in
        let isFirst =
          line.contains("the reader (virtual reader)")
          && isKilled.withLock { killed in
            defer { killed = true }
            return !killed
          }
        guard isFirst else { return touches.heard(line, program) }
        for vault in children(of: program.pid) { kill(vault, SIGKILL) }
      }
      try got.mustSucceed()
      #expect(got.text == (action == "get" ? "username=ann\npassword=one\n" : ""))
      #expect(try await store.whorl("ls").text.contains("example.com/ann") == (action == "get"))
    }
  }

  @Test("git-credential asks for the passcode once more if the vault ends while the store is being unlocked")
  func vaultEndsAtFirstUnlock() async throws {
    try await PrivateBus.with { bus in
      try await TestStore.with { store in
        try await git("store", Self.place + "username=ann\npassword=one\n", "--access", "none", in: store).mustSucceed()
        try await makeWaitForPasscode(storeAt: store.directory, passcode: TestStore.passcode)
        try LatePinentry.write(in: store.folder)
        let getting = try Invocation(
          arguments: store.arguments(["git-credential", "get"] + store.reader), input: Array(Self.place.utf8),
          environment: [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "DISPLAY": ":7", "PATH": "\(store.folder):/usr/bin:/bin",
          ]
        ).start()
        let asked = "\(store.folder)/asked"
        let killing = Task {
          for _ in 0..<6_000 where access(asked, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
          for vault in vaults(of: getting.pid) { kill(vault, SIGKILL) }
        }
        let got = await Task(executorPreference: BackgroundThread()) { getting.finish { _, _ in } }.value
        try await killing.value
        #expect(got.text == "username=ann\npassword=one\n", "\(got.diagnostics)")
      }
    }
  }

  @Test("whorl git-credential erase forgets only the password that was refused")
  func erase() async throws {
    try await TestStore.with { store in
      try await git("store", Self.place + "username=ann\npassword=one\n", "--access", "none", in: store).mustSucceed()
      try await git("erase", Self.place + "username=ann\npassword=mistyped\n", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).text == "username=ann\npassword=one\n")
      try await git("erase", Self.place + "username=ann\npassword=one\n", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).output.isEmpty)
    }
  }

  @Test("whorl git-credential erase keeps a password behind a finger if it cannot be compared")
  func notCompared() async throws {
    try await TestStore.with { store in
      try await git("store", Self.place + "username=ann\npassword=one\n", in: store).mustSucceed()
      let kept = try await git("erase", Self.place + "username=ann\npassword=one\n", "--no-prompt", in: store)
      #expect(kept.status == 77)
      #expect(try await store.whorl("ls").text.contains("example.com/ann"))
    }
  }

  @Test("whorl git-credential does not store or compare again what it returned itself, by git's state field")
  func state() async throws {
    try await TestStore.with { store in
      try await git("store", Self.place + "username=ann\npassword=one\n", "--access", "none", in: store).mustSucceed()
      let got = try await git("get", "capability[]=state\ncapability[]=other\n" + Self.place, in: store).text
      #expect(got.hasPrefix("capability[]=state\nusername=ann\npassword=one\nstate[]=whorl:"))
      let state = try #require(got.split(separator: "\n").last)
      try await git("store", Self.place + "username=ann\npassword=two\n\(state)\n", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).text == "username=ann\npassword=one\n")
      // Changed since it was read.
      usleep(5_000)
      try await git("store", Self.place + "username=ann\npassword=three\n", in: store).mustSucceed()
      try await git("erase", Self.place + "username=ann\npassword=one\n\(state)\n", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).text == "username=ann\npassword=three\n")
    }
  }

  @Test("whorl git-credential ignores another helper's state, and keeps its own if the password is stored again")
  func otherState() async throws {
    try await TestStore.with { store in
      func state() async throws -> Substring? {
        try await git("get", "capability[]=state\n" + Self.place, in: store).text.split(separator: "\n").last
      }
      let password = Self.place + "username=ann\npassword=one\n"
      try await git("store", password + "state[]=other:1\n", "--access", "none", in: store).mustSucceed()
      let first = try await state()
      #expect(first?.hasPrefix("state[]=whorl:") == true)
      // Times of changes have a resolution of a millisecond.
      usleep(5_000)
      try await git("store", password, in: store).mustSucceed()
      #expect(try await state() == first)
    }
  }

  @Test("whorl git-credential takes the last value of a repeated key")
  func twice() async throws {
    try await TestStore.with { store in
      let request = Self.place + "username=bob\npassword=one\nusername=ann\npassword=two\n"
      try await git("store", request, "--access", "none", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).text == "username=ann\npassword=two\n")
    }
  }

  @Test("git-credential returns a credential of another authentication type only to a git that knows such types")
  func authenticationTypes() async throws {
    try await TestStore.with { store in
      let bearer = Self.place + "authtype=Bearer\ncredential=token\n"
      try await git("store", "capability[]=authtype\n" + bearer, "--access", "none", in: store).mustSucceed()
      #expect(try await git("get", Self.place, in: store).output.isEmpty)
      #expect(
        try await git("get", "capability[]=authtype\n" + Self.place, in: store).text
          == "capability[]=authtype\nauthtype=Bearer\ncredential=token\n")
    }
  }

  @Test("git-credential ignores unknown actions and incomplete credentials, and refuses what is not key=value in UTF-8")
  func badInput() async throws {
    try await TestStore.with { store in
      let ignored = try await git("approve-all", "anything", in: store)
      #expect(ignored.status == 0 && ignored.output.isEmpty && ignored.diagnostics.isEmpty)
      let refused = try await git("get", "protocol=https\nhost\n", in: store)
      #expect(refused.status == 64)
      #expect(refused.failure.hasPrefix("whorl: git-credential: a line on standard input is not 'key=value'"))
      let latin1: [UInt8] = [0x61, 0xE4]
      for (line, failure) in [
        (Array("username=".utf8) + latin1, "git's 'username' is not UTF-8"),
        (latin1 + Array("=ann".utf8), "a line on standard input is not 'key=value'"),
      ] {
        let request = Array(Self.place.utf8) + line + Array("\npassword=x\n".utf8)
        let odd = try await Invocation(arguments: store.arguments(["git-credential", "store"]), input: request).run()
        #expect(odd.status == 64 && odd.failure.contains(failure), "\(odd.diagnostics)")
      }
      for place in [Self.place, "protocol=https\nhost=\npassword=x\n", "protocol=\nhost=example.com\npassword=x\n"] {
        try await git("store", place + "username=ann\n", in: store).mustSucceed()
      }
      #expect(try await store.whorl("ls").output.isEmpty)
    }
  }

  @Test("git fills in a password after it was approved to git-credential, and not after it was rejected")
  func realGit() async throws {
    try await TestStore.with { store in
      let helper = "!\(try Programs.path("whorl")) git-credential --store \(store.directory) --access none"
      func git(_ action: String, _ input: String) async throws -> String {
        let options = ["-c", "credential.helper=", "-c", "credential.helper=\(helper)"]
        return try await Invocation(
          program: "/usr/bin/git", arguments: options + ["credential", action], input: Array(input.utf8),
          environment: ["PATH": "/usr/bin:/bin", "HOME": store.folder, "GIT_TERMINAL_PROMPT": "0"]
        ).run().text
      }
      _ = try await git("approve", Self.place + "username=ann\npassword=one\n")
      let filled = try await git("fill", Self.place)
      #expect(filled.contains("username=ann\npassword=one\n"))
      _ = try await git("approve", filled)
      _ = try await git("reject", filled)
      #expect(try await !git("fill", Self.place).contains("password="))
    }
  }

  /// The helper that `whorl setup` sets.
  private func helperOfSetup(_ store: TestStore) async throws -> String {
    struct Steps: Decodable {
      struct Step: Decodable {
        var step: String
        var commands: [[String]]
      }
      var steps: [Step]
    }
    let told = try await store.whorl(
      "setup", "--json", environment: ["HOME": store.folder, "XDG_RUNTIME_DIR": "/none"])
    let steps = try JSONDecoder().decode(Steps.self, from: Data(told.output)).steps
    return try #require(steps.first { $0.step == "git" }?.commands.first?.last)
  }

  @Test("git runs the helper that setup configures, and prints no error after whorl was removed")
  func removed() async throws {
    try await TestStore.with { store in
      let helper = try await helperOfSetup(store)
      func git(_ helper: String, path: String) async throws -> Invocation.Result {
        try await Invocation(
          program: "/usr/bin/git",
          arguments: ["-c", "credential.helper=", "-c", "credential.helper=\(helper)", "credential", "fill"],
          input: Array((Self.place + "username=ann\n").utf8),
          environment: [
            "PATH": path, "HOME": store.folder, "XDG_DATA_HOME": "\(store.folder)/data", "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C.UTF-8",
          ]
        ).run()
      }
      // If whorl is installed, its message is expected: there is no store at this place yet.
      let programs = try Programs.path("whorl").dropLast("/whorl".count)
      let there = try await git(helper, path: "\(programs):/usr/bin:/bin")
      #expect(there.diagnostics.contains("whorl: git-credential: "), "\(there.diagnostics)")
      let gone = try await git(helper, path: "/usr/bin:/bin")
      #expect(!gone.diagnostics.contains("whorl"), "\(gone.diagnostics)")
      #expect(gone.diagnostics.hasPrefix("fatal: "), "it goes on to ask the person: \(gone.diagnostics)")
      // The plain name, which the package's removal script mentions.
      let complaint = try await git("whorl", path: "/usr/bin:/bin")
      #expect(complaint.diagnostics.contains("credential-whorl"), "\(complaint.diagnostics)")
    }
  }
}
