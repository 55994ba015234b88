import Glibc
import ProgramDriver
import SDBus
import Testing
import VaultHost

@Suite(
  "A command while the session is locked", .serialized,
  .enabled("only for root, with PAM", { try await LoginAccount.isPossible() }))
struct LockedSessionCommandTests {
  @Test("whorl get in a locked session says that the items are closed, and does not use the passcode")
  func locked() async throws {
    try await PrivateBus.withSession { bus, logind, _ in
      let sessions = LoginSessions(polkit: Polkit(bus: bus.address), bus: bus.address)
      let service = try RunningService(sessions: sessions)
      try await service.makeStore()
      try await withFolder { folder in
        let account = try LoginAccount(RunningService.passcode, in: folder)
        func whorl(_ words: String..., passcode: String) async throws -> Invocation.Result {
          try await Invocation(
            program: "/usr/bin/unshare",
            arguments: account.words(words + ["--passcode-fd", "3"], with: service.folder),
            descriptors: [passcode + "\n"], environment: ["HOME": folder, "XDG_RUNTIME_DIR": folder]
          ).run()
        }
        let set = try await whorl("set", "note", "--access", "none", passcode: RunningService.passcode)
        #expect(set.status == 0, "\(set.diagnostics)")
        #expect(try await whorl("get", "note", passcode: "wrong").status == 0, "it is open")
        logind.change("c1", ["LockedHint": .boolean(true)])
        try #require(try await eventually { await sessions.state(of: geteuid()) == .locked })
        var closed = try await whorl("get", "note", passcode: "wrong")
        for _ in 0..<50 where closed.status == 0 { closed = try await whorl("get", "note", passcode: "wrong") }
        #expect(closed.status == 77 && closed.failure.contains("are closed"), "\(closed.diagnostics)")
      }
      try await service.end()
    }
  }
}
