import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing
import VaultHost

@Suite("A user's sessions", .timeLimit(.minutes(2)))
struct UserStateTests {
  @Test("a user's sessions count as unlocked if one at a seat is, or without one at a seat, if there is any")
  func unlocked() async throws {
    try await Machine.with { machine in
      let user = getuid()
      func state() async -> SessionState { await machine.sessions.state(of: user) }
      #expect(await state() == .unlocked)
      #expect(await machine.sessions.isUnlocked(user))
      machine.logind.change("c1", ["LockedHint": .boolean(true)])
      try #require(try await eventually { await state() == .locked })
      #expect(await machine.sessions.isUnlocked(user) == false)
      // A remote session does not open items while the session at the seat is locked.
      machine.logind.add("c3", ["Remote": .boolean(true), "Seat": LogindStandIn.noSeat])
      machine.logind.change("c3", [:])
      #expect(await state() == .locked)
      machine.logind.remove("c1")
      try #require(try await eventually { await state() == .unlocked })
      machine.logind.add("c3", ["Class": .string("background"), "Seat": LogindStandIn.noSeat])
      machine.logind.change("c3", [:])
      try #require(try await eventually { await state() == .absent })
      #expect(await machine.sessions.state(of: 4_242) == .absent)
      machine.logind.prepareForSleep(true)
      try #require(try await eventually { await state() == .sleeping })
      machine.logind.prepareForSleep(false)
      try #require(try await eventually { await state() == .absent })
    }
  }

  @Test("the state of a user's sessions is read from logind once, and once more after a change")
  func cached() async throws {
    try await Machine.with { machine in
      #expect(await machine.sessions.isUnlocked(getuid()))
      let calls = machine.logind.calls
      for _ in 1...100 { #expect(await machine.sessions.isUnlocked(getuid())) }
      #expect(machine.logind.calls == calls)
      machine.logind.change("c1", ["LockedHint": .boolean(true)])
      try #require(try await eventually { await !machine.sessions.isUnlocked(getuid()) })
      let changed = machine.logind.calls
      #expect(changed > calls)
      for _ in 1...100 { #expect(await machine.sessions.state(of: getuid()) == .locked) }
      #expect(machine.logind.calls == changed)
    }
  }

  @Test("the state of a user's sessions is known during endless signals of others, and unknown during the user's own")
  func endlessSignals() async throws {
    try await Machine.with { machine in
      let logind = machine.logind
      #expect(await machine.sessions.state(of: getuid()) == .unlocked)
      // An inhibitor of another program does not make it request a new lock.
      let calls = logind.calls
      logind.signalInhibitors()
      #expect(await machine.sessions.state(of: 4_242) == .absent)
      let between = logind.calls
      #expect(between > calls)
      #expect(await machine.sessions.state(of: getuid()) == .unlocked)
      #expect(logind.calls == between)
      logind.beforeAnswers { logind.signalInhibitors() }
      logind.change("c1", [:])
      try await Task.sleep(for: .milliseconds(50))
      #expect(await machine.sessions.isUnlocked(getuid()))
      for noise in [{ logind.signalChange(of: "c9") }, { logind.signalNewSession("c9") }] as [@Sendable () -> Void] {
        logind.beforeAnswers(noise)
        logind.change("c1", [:])
        try await Task.sleep(for: .milliseconds(50))
        #expect(await machine.sessions.isUnlocked(getuid()))
        #expect(await machine.refusal() == nil)
      }
      logind.beforeAnswers { logind.signalChange(of: "c1") }
      #expect(await machine.sessions.state(of: getuid()) == .unknown)
      logind.beforeAnswers(nil)
      // These answers show that the earlier signals have arrived.
      #expect(await machine.sessions.state(of: getuid()) == .unlocked)
    }
  }

  @Test("the state of a user's sessions is reported with every change, also after a restart of logind")
  func followed() async throws {
    try await Machine.with { machine in
      let seen = Happenings()
      let following = Task {
        for await state in machine.sessions.states(of: getuid()) { seen.add("\(state)") }
      }
      try #require(try await eventually { seen.all == ["unlocked"] })
      machine.logind.change("c1", ["LockedHint": .boolean(true)])
      try #require(try await eventually { seen.all.last == "locked" })
      machine.logind.prepareForSleep(true)
      try #require(try await eventually { seen.all.last == "sleeping" })
      machine.logind.prepareForSleep(false)
      try #require(try await eventually { seen.all.last == "locked" })
      machine.logind.change("c1", ["LockedHint": .boolean(false)])
      try #require(try await eventually { seen.all.last == "unlocked" })
      machine.logind.close()
      try #require(try await eventually { seen.all.last == "unknown" })
      let next = try await LogindStandIn(on: machine.bus)
      next.add("c1", process: getpid(), ["LockedHint": .boolean(true)])
      next.setDisplay("c1")
      try #require(try await eventually { seen.all.last == "locked" })
      following.cancel()
      next.close()
    }
  }

  @Test("followers of the machine's sleep delay it until they are done, and are told when the machine is awake")
  func sleepWaits() async throws {
    try await Machine.with { machine in
      let seen = Happenings()
      let (gate, mayGoOn) = AsyncStream<Void>.makeStream()
      await machine.sessions.followSleep {
        seen.add("begins")
        for await _ in gate { break }
        seen.add("put away")
      } after: {
        seen.add("awake")
      }
      try #require(try await eventually { machine.logind.holdsSleep })
      machine.logind.prepareForSleep(true)
      try #require(try await eventually { seen.all == ["begins"] })
      #expect(machine.logind.holdsSleep)
      mayGoOn.yield()
      try #require(try await eventually { seen.all == ["begins", "put away"] && !machine.logind.holdsSleep })
      machine.logind.prepareForSleep(false)
      try #require(try await eventually { seen.all.last == "awake" && machine.logind.holdsSleep })
      // A new lock is requested from the next logind.
      machine.logind.close()
      let next = try await LogindStandIn(on: machine.bus)
      try #require(try await eventually { next.holdsSleep })
      next.close()
    }
  }

  @Test("followers of the machine's sleep delay also a sleep that begins before logind has answered")
  func sleepBeforeTheAnswer() async throws {
    try await Machine.with { machine in
      let seen = Happenings()
      let (gate, mayGoOn) = AsyncStream<Void>.makeStream()
      machine.logind.manner = .silent
      await machine.sessions.followSleep {
        seen.add("begins")
        for await _ in gate { break }
        seen.add("put away")
      } after: {
        seen.add("awake")
      }
      try #require(try await eventually { machine.logind.calls == 1 })
      machine.logind.prepareForSleep(true)
      machine.logind.answerAll()
      try #require(try await eventually { seen.all == ["begins"] })
      // This answer shows that earlier calls were answered, too.
      #expect(await machine.sessions.state(of: getuid()) == .sleeping)
      #expect(machine.logind.holdsSleep)
      mayGoOn.yield()
      try #require(try await eventually { seen.all == ["begins", "put away"] && !machine.logind.holdsSleep })
    }
  }
}

private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
  for _ in 0..<2_000 {
    if try await condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}
