import Glibc
import ProgramDriver
import Testing

/// An attacker guesses passcodes with the built program, and manipulates its records and its environment.
@Suite("Guessing passcodes")
struct GuessingTests {
  private static let right = TestStore.passcode

  /// A store after five wrong passcodes, with a running delay of a minute.
  private func delayed(_ body: (TestStore) async throws -> Void) async throws {
    try await TestStore.enrolled { store in
      for _ in 1...5 { _ = try await store.call("unlock", passcode: ["wrong"]).run() }
      try #require(try await store.status().number("passcodeDelay") > 0)
      try await body(store)
    }
  }

  @Test(
    "the delay after five wrong passcodes continues in a time, user, mount or pid namespace",
    arguments: [
      ["-T", "--boottime", "4000", "--monotonic", "4000"], ["-U", "-r"], ["-U", "-r", "-T", "--boottime", "4000"],
      ["-U", "-r", "-m"], ["-U", "-r", "-p", "-f", "--mount-proc"],
    ])
  func namespaces(_ words: [String]) async throws {
    let tried = try await Invocation(program: "/usr/bin/unshare", arguments: words + ["/bin/true"]).run()
    guard tried.status == 0 else {
      let why = "unshare \(words.joined(separator: " ")) is not allowed here: \(tried.failure)"
      // The runner reports this case as cancelled. Before Swift 6.3 a test cannot tell it so.
      #if compiler(>=6.3)
        try Test.cancel("\(why)")
      #else
        return print("skipped: \(why)")
      #endif
    }
    try await delayed { store in
      var call = store.call("unlock", passcode: [Self.right])
      call.arguments = words + [try Programs.path("whorl")] + call.arguments
      call.program = "/usr/bin/unshare"
      let inside = try await call.run()
      #expect(inside.status == 77, "\(inside.diagnostics)")
      #expect(inside.failure.contains("too many wrong passcodes"), "\(inside.diagnostics)")
      // Writes in the namespace do not end the delay outside.
      #expect(try await store.call("unlock", passcode: [Self.right]).run().status == 77)
    }
  }

  @Test("a store whose two failure records are destroyed tries no passcode, not even the right one")
  func bothRecords() async throws {
    try await delayed { store in
      for passcode in ["wrong", "wrong again", Self.right] {
        unlink("\(store.directory)/state")
        try await spoilRecord(of: store)
        let guess = try await store.call("unlock", "--accept-restore", passcode: [passcode]).run()
        #expect(guess.status == 65, "\(guess.diagnostics)")
        #expect(guess.failure.contains("whorl recover"))
        let gated = try await store.call("get", "presence", passcode: [passcode]).run()
        #expect(gated.status == 65 && gated.output.isEmpty, "\(gated.diagnostics)")
      }
      #expect(try await store.status().number("passcodeDelay") == 3600)
      let recovered = try await recover(store)
      #expect(recovered.status == 0, "\(recovered.diagnostics)")
      #expect(recovered.diagnostics.contains("right index"))
      #expect(recovered.diagnostics.contains("Lost: current-set"))
      let found = try await store.call("get", "presence", passcode: ["found it again"]).run()
      #expect(found.text == "presence", "\(found.diagnostics)")
      #expect(try await store.run(store.call("get", "any-finger"), [.right]).output.isEmpty, "the finger is forgotten")
    }
  }

  @Test("a store whose state file is deleted before each guess applies the longest passcode delay each time")
  func stateAlone() async throws {
    try await TestStore.enrolled { store in
      for _ in 1...2 {
        unlink("\(store.directory)/state")
        for _ in 1...2 {
          let guess = try await store.call("unlock", "--accept-restore", passcode: [Self.right]).run()
          #expect(guess.status == 77, "\(guess.diagnostics)")
          #expect(guess.failure.contains("too many wrong passcodes"))
        }
        #expect(try await store.status().number("passcodeDelay") > 3000)
      }
    }
  }

  private func recover(_ store: TestStore) async throws -> Invocation.Result {
    var call = store.call("recover", "--accept-restore", "--recovery-fd", "4", passcode: ["found it again"])
    call.descriptors.append(store.recoveryKey + "\n")
    return try await call.run()
  }

  private func spoilRecord(of store: TestStore) async throws {
    try await edit(store.directory, "UPDATE store SET authority = x'00'")
  }
}
