import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing
import VaultHost

@Suite("Asking polkit", .timeLimit(.minutes(2)))
struct PolkitTests {
  private func withPolkit(_ body: (Polkit, PolkitStandIn, Caller) async throws -> Void) async throws {
    try await PrivateBus.with { bus in
      let standIn = try await PolkitStandIn(on: bus)
      defer { standIn.close() }
      try await body(Polkit(bus: bus.address), standIn, try .thisProcess)
    }
  }

  @Test("a request to polkit identifies the process by start and user, and gives yes, no, or what is missing")
  func verdicts() async throws {
    try await withPolkit { polkit, standIn, caller in
      #expect(await polkit.authorize(.own, for: caller, asking: true) == .allowed)
      let question = try #require(standIn.questions.first)
      #expect(question.kind == "unix-process")
      #expect(question.subject["pid"]?.asUInt32 == UInt32(getpid()))
      #expect(question.subject["start-time"]?.asUInt64 == caller.process?.started)
      #expect(question.subject["uid"]?.asInt32 == Int32(getuid()))
      #expect(question.action == "org.whorl.own")
      #expect(question.flags == 0, "who is allowed is not asked for a password")
      standIn.manner = .answers(authorized: false, challenge: false)
      #expect(await polkit.authorize(.enroll, for: caller, asking: false) == .denied)
      #expect(standIn.questions.last?.flags == 0)
      standIn.manner = .answers(authorized: false, challenge: true)
      #expect(await polkit.authorize(.own, for: caller, asking: true) == .needsPassword)
      standIn.manner = .answers(authorized: false, challenge: false, details: ["polkit.dismissed": "true"])
      #expect(await polkit.authorize(.own, for: caller, asking: true) == .dismissed)
      standIn.manner = .password(wrong: 1)
      #expect(await polkit.authorize(.own, for: caller, asking: true) == .wrongPassword)
      #expect(standIn.questions.suffix(2).map(\.flags) == [0, 1])
      #expect(await polkit.authorize(.own, for: caller, asking: true) == .allowed)
    }
  }

  @Test("polkit counts as unavailable, never as a yes, if it hangs, fails, answers nonsense or is missing")
  func trouble() async throws {
    try await withPolkit { polkit, standIn, caller in
      standIn.manner = .silent
      #expect(await polkit.authorize(.use, for: caller, asking: false) == .unavailable("polkit gave no answer"))
      standIn.manner = .nonsense
      #expect(
        await polkit.authorize(.use, for: caller, asking: false) == .unavailable("polkit gave no valid answer"))
      standIn.manner = .error
      #expect(
        await polkit.authorize(.use, for: caller, asking: false)
          == .unavailable("polkit: Action org.whorl.use is not registered"))
      standIn.manner = .answers(authorized: true, challenge: false)
      #expect(await polkit.authorize(.use, for: caller, asking: false) == .allowed)
      standIn.manner = .waitsForPassword
      let asking = Task { await polkit.authorize(.own, for: caller, asking: true) }
      try #require(try await eventually { standIn.questions.last?.action == "org.whorl.own" })
      standIn.close()
      for verdict in [await asking.value, await polkit.authorize(.use, for: caller, asking: false)] {
        guard case .unavailable = verdict else {
          Issue.record("\(verdict), by nobody")
          return
        }
      }
    }
  }

  @Test("a request to polkit is cancelled when nobody waits for the answer any more")
  func cancelled() async throws {
    try await withPolkit { polkit, standIn, caller in
      standIn.manner = .waitsForPassword
      let asking = Task { await polkit.authorize(.own, for: caller, asking: true) }
      try #require(try await eventually { standIn.questions.count == 2 })
      asking.cancel()
      #expect(await asking.value == .unavailable("the question was cancelled"))
      #expect(standIn.cancelled == [standIn.questions.last?.number])
    }
  }

  @Test("polkit is not asked about a process that has ended, or one that reuses its number")
  func pinned() async throws {
    try await withPolkit { polkit, standIn, caller in
      var other = caller
      other.process?.started += 1
      #expect(
        await polkit.authorize(.use, for: other, asking: false) == .unavailable("the program has ended"))
      #expect(standIn.questions.isEmpty)
    }
  }
}
