import Glibc
import ProgramDriver
import Testing

@Suite("Accepting a restored store at the command line")
struct AcceptedRestoreTests {
  /// A store whose `state` is the one of three changes ago.
  private func restored(_ body: (TestStore) async throws -> Void) async throws {
    try await TestStore.with { store in
      let state = try readFile("\(store.directory)/state")
      for name in ["a", "b", "c"] { try await store.set(name, name) }
      try writeFile("\(store.directory)/state", state)
      try await body(store)
    }
  }

  @Test("unlock at a terminal lists what came back in a restored store, and accepts it only after a clear yes")
  func asked() async throws {
    try await restored { store in
      let no = try PseudoTerminal(store.arguments(["unlock"]))
      try await no.waits(for: "Accept it? [y/N] ")
      #expect(no.shown.contains("no fingers"))
      for name in ["a", "b", "c"] { #expect(no.shown.contains("    \(name)\r\n")) }
      no.type("\n")
      #expect(try await no.status() == 77)
      #expect(try await store.whorl("status").text.contains("'whorl unlock' lists it and accepts it with the passcode"))
      let yes = try PseudoTerminal(store.arguments(["unlock"]))
      try await yes.waits(for: "Accept it? [y/N] ")
      yes.type("y\n")
      try await yes.waits(for: "Passcode: ")
      yes.type("\(TestStore.passcode)\n")
      #expect(try await yes.status() == 0)
      #expect(yes.shown.contains("Accepted: "))
      #expect(try await store.unlocked("get", "a").text == "a")
    }
  }

  @Test("unlock without a terminal accepts a restored store only with --accept-restore and the right passcode")
  func flag() async throws {
    try await restored { store in
      let refused = try await store.unlocked("unlock")
      #expect(refused.status == 77, "\(refused.diagnostics)")
      #expect(refused.failure.contains("--accept-restore"))
      let wrong = try await Invocation(
        arguments: store.arguments(["unlock", "--accept-restore", "--passcode-fd", "3"]), descriptors: ["wrong\n"]
      ).run()
      #expect(wrong.status == 77)
      #expect(try await store.whorl("status", "--json").text.contains(#""restoreDetected":true"#))
      let doctor = try await store.whorl("doctor")
      #expect(doctor.text.contains("whorl unlock"), "\(doctor.text)")
      let accepted = try await store.unlocked("unlock", "--accept-restore", "--json")
      #expect(accepted.text.contains(#""restoreAccepted":true"#), "\(accepted.diagnostics)")
      #expect(try await store.unlocked("get", "a").text == "a")
    }
  }
}
