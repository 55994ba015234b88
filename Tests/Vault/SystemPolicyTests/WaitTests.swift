import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing
import VaultHost

@Suite("An armed scan", .timeLimit(.minutes(2)))
struct WaitTests {
  /// Starts to wait, makes a change, and returns the reason why the wait ended.
  private func reason(after happening: (Machine) throws -> Void) async throws -> SessionRefusal {
    var reason: SessionRefusal?
    try await Machine.with { machine in
      #expect(await machine.refusal() == nil)
      let ending = Task { await machine.sessions.untilRefused(for: machine.caller) }
      let before = machine.logind.calls
      try #require(try await eventually { machine.logind.calls > before + 2 })
      // A change that forbids nothing.
      machine.logind.change("c1", ["IdleHint": .boolean(true)])
      try happening(machine)
      reason = await ending.value
      ending.cancel()
    }
    return try #require(reason)
  }

  /// Waits for a change of the session, and returns what it is then; nil if the wait does not end.
  private func changed(
    from known: SessionRefusal?, by happening: (Machine) throws -> Void
  ) async throws -> (isWoken: Bool, refusal: SessionRefusal?) {
    var result: (isWoken: Bool, refusal: SessionRefusal?) = (false, nil)
    try await Machine.with { machine in
      if known == .lidClosed { machine.logind.closeLid(true) }
      #expect(await machine.sessions.sessionRefusal(for: machine.caller, at: .underLid) == known)
      let ended = Happenings()
      let waits = (0..<3).map { _ in
        Task {
          await machine.sessions.sessionChange(from: known, for: machine.caller)
          ended.add("woken")
        }
      }
      let before = machine.logind.calls
      try #require(try await eventually { machine.logind.calls > before + 2 })
      // Changes that mean nothing for the caller.
      machine.logind.signalChange(of: "c9")
      machine.logind.signalInhibitors()
      try await Task.sleep(for: .milliseconds(100))
      #expect(ended.all.isEmpty)
      try happening(machine)
      for _ in 0..<100 where ended.all.count < 3 { try await Task.sleep(for: .milliseconds(10)) }
      result = (ended.all.count == 3, await machine.sessions.sessionRefusal(for: machine.caller, at: .underLid))
      for wait in waits { wait.cancel() }
      for wait in waits { await wait.value }
    }
    return result
  }

  @Test(
    "a scan that follows its session hears of the lid, the lock and the foreground at once, and of nothing else")
  func changes() async throws {
    let online: [String: BusValue] = ["Active": .boolean(false), "State": .string("online")]
    #expect(try await changed(from: nil) { $0.logind.closeLid(true) } == (true, .lidClosed))
    #expect(try await changed(from: .lidClosed) { $0.logind.closeLid(false) } == (true, nil))
    #expect(try await changed(from: nil) { $0.logind.change("c1", ["LockedHint": .boolean(true)]) } == (true, .locked))
    #expect(try await changed(from: nil) { $0.logind.change("c1", online) } == (true, .inactive))
    #expect(try await changed(from: nil) { $0.logind.change("c1", ["IdleHint": .boolean(true)]) } == (false, nil))
  }

  @Test("an armed scan ends when its session is locked")
  func locked() async throws {
    #expect(try await reason { $0.logind.change("c1", ["LockedHint": .boolean(true)]) } == .locked)
  }

  @Test("an armed scan ends when another session comes to the foreground")
  func inactive() async throws {
    #expect(
      try await reason { $0.logind.change("c1", ["Active": .boolean(false), "State": .string("online")]) }
        == .inactive)
  }

  @Test("an armed scan ends when its session ends")
  func removed() async throws {
    #expect(
      try await reason {
        $0.logind.setDisplay(nil)
        $0.logind.remove("c1")
      } == .noSession)
  }

  @Test("an armed scan ends when the machine goes to sleep")
  func sleep() async throws {
    #expect(try await reason { $0.logind.prepareForSleep(true) } == .sleeping)
  }

  @Test("an armed scan ends when logind ends, hangs or answers nonsense")
  func trouble() async throws {
    #expect(try await reason { $0.logind.close() } == .unknown)
    for manner in [LogindStandIn.Manner.silent, .nonsense] {
      #expect(
        try await reason {
          $0.logind.manner = manner
          $0.logind.change("c1", ["IdleHint": .boolean(false)])
        } == .unknown)
    }
  }

  @Test("an armed scan makes no calls to logind while nothing changes, and ends when it is cancelled")
  func noPolling() async throws {
    try await Machine.with { machine in
      let ending = Task { await machine.sessions.untilRefused(for: machine.caller) }
      try #require(try await eventually { machine.logind.calls >= 3 })
      try await Task.sleep(for: .milliseconds(500))
      #expect(machine.logind.calls == 3)
      ending.cancel()
      _ = await ending.value
    }
  }
}
