import Glibc
import Processes
import ProgramDriver
import SDBus
import SecretModel
import Testing
import VaultHost

@Suite("A finger for a login is allowed", .timeLimit(.minutes(2)))
struct LoginProgramTests {
  private static let stranger = LogindStandIn.ownUser + 1

  /// This process as a login program for its user.
  private func caller(
    _ machine: Machine, isGreeter: Bool, seat: String = "", terminal: String = ""
  ) -> Caller {
    var caller = machine.caller
    caller.login = LoginProgram(isGreeter: isGreeter, seat: seat, terminal: terminal)
    return caller
  }

  /// A machine on which this process is a system service.
  private func outside(_ body: (Machine) async throws -> Void) async throws {
    try await Machine.with { machine in
      machine.logind.remove("c1")
      try await body(machine)
    }
  }

  @Test("a finger for a login in a session is allowed as for programs, without polkit", arguments: RefusalTests.cases)
  func inside(_ one: RefusalTests.Case) async throws {
    try await Machine.with { machine in
      machine.polkit.manner = .answers(authorized: false, challenge: false)
      machine.logind.add("c1", process: getpid(), one.session)
      #expect(await machine.refusal(for: caller(machine, isGreeter: false)) == one.refusal)
      // The same in another user's session, where an administrator authenticates.
      machine.logind.add("c1", user: Self.stranger, process: getpid(), one.session)
      #expect(await machine.refusal(for: caller(machine, isGreeter: false)) == one.refusal)
    }
  }

  @Test("a finger for a login in a user's service is allowed by the rules for that user's display session")
  func services() async throws {
    try await outside { machine in
      machine.logind.setOwner(Self.stranger, of: getpid())
      machine.logind.setDisplay(nil, of: Self.stranger)
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == .noSession)
      machine.logind.add("c2", user: Self.stranger)
      machine.logind.setDisplay("c2", of: Self.stranger)
      #expect(await machine.refusal(for: caller(machine, isGreeter: false)) == nil)
      machine.logind.change("c2", ["Remote": .boolean(true)])
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == .remote)
    }
  }

  @Test("a finger for a login outside of any session is allowed only for a greeter that its seat shows")
  func greeter() async throws {
    try await outside { machine in
      machine.logind.add("c2", user: Self.stranger, ["Class": .string("greeter")])
      machine.logind.show("c2")
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == nil)
      #expect(await machine.refusal(for: caller(machine, isGreeter: true, seat: "seat0")) == nil)
      #expect(await machine.refusal(for: caller(machine, isGreeter: true, seat: "seat1")) == .inactive)
      #expect(await machine.refusal(for: caller(machine, isGreeter: false)) == .noSession, "such as polkit's helper")
      machine.logind.change("c2", ["Remote": .boolean(true)])
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == .remote)
      machine.logind.add("c2", user: Self.stranger, process: getpid(), ["Class": .string("greeter")])
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == nil, "in the greeter's own session")
      machine.logind.change("c2", ["State": .string("online")])
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == .inactive)
    }
  }

  @Test("a finger for polkit's helper outside of any session is allowed by the rules for its agent's session")
  func agent() async throws {
    try await outside { machine in
      let parent = getppid()
      let started = try #require(ProcessHandle.start(of: parent))
      var helper = caller(machine, isGreeter: false)
      helper.login?.agent = Caller.ProcessInstance(id: parent, started: started)
      #expect(await machine.refusal(for: helper) == .noSession, "the agent is in none either")
      machine.logind.add("c2", user: Self.stranger, process: parent)
      #expect(await machine.refusal(for: helper) == nil)
      machine.logind.set("LidClosed", true)
      #expect(await machine.refusal(for: helper, at: .underLid) == .lidClosed)
      for (change, refusal) in [
        (["Remote": BusValue.boolean(true)], SessionRefusal.remote), (["State": .string("online")], .inactive),
        (["LockedHint": .boolean(true)], .locked),
      ] {
        machine.logind.add("c2", user: Self.stranger, process: parent, change)
        #expect(await machine.refusal(for: helper) == refusal)
      }
      machine.logind.add("c2", user: Self.stranger, process: parent)
      helper.login?.agent?.started += 1
      #expect(await machine.refusal(for: helper) == .unknown, "another process has the agent's number")
      // A program chooses whose socket it gives a helper that it starts itself.
      helper.login?.agent?.started -= 1
      machine.logind.add("c3", process: getpid(), ["Remote": .boolean(true)])
      #expect(await machine.refusal(for: helper) == .remote)
    }
  }

  @Test("a finger to unlock the user's own session is allowed if the session is locked and shown")
  func unlocking() async throws {
    try await outside { machine in
      machine.logind.add("c2", ["LockedHint": .boolean(true)])
      machine.logind.show("c2")
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == nil)
      machine.logind.change("c2", ["LockedHint": .boolean(false)])
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == .inactive)
      machine.logind.add("c2", user: Self.stranger, ["LockedHint": .boolean(true)])
      #expect(await machine.refusal(for: caller(machine, isGreeter: true)) == .inactive)
    }
  }

  /// This process as a program of its user that unlocks the screen.
  private func locker(_ machine: Machine) -> Caller {
    var caller = machine.caller
    caller.login = LoginProgram(isGreeter: false, isLocker: true, seat: "", terminal: "")
    return caller
  }

  @Test(
    "a finger for a lock screen is allowed as for programs, locked or not", arguments: RefusalTests.cases)
  func lockScreen(_ one: RefusalTests.Case) async throws {
    try await Machine.with { machine in
      machine.logind.add("c1", process: getpid(), one.session)
      #expect(await machine.refusal(for: locker(machine)) == (one.refusal == .locked ? nil : one.refusal))
    }
  }

  @Test("a finger for a lock screen is refused in another user's session, outside of any, under a lid and by polkit")
  func lockScreenElsewhere() async throws {
    try await Machine.with { machine in
      #expect(await machine.refusal(for: locker(machine)) == nil)
      machine.logind.set("LidClosed", true)
      #expect(await machine.refusal(for: locker(machine), at: .underLid) == .lidClosed)
      machine.logind.set("LidClosed", false)
      machine.polkit.manner = .answers(authorized: false, challenge: false)
      #expect(await machine.refusal(for: locker(machine)) == .notPermitted)
      machine.polkit.manner = .answers(authorized: true, challenge: false)
      machine.logind.add("c1", user: Self.stranger, process: getpid(), ["LockedHint": .boolean(true)])
      #expect(await machine.refusal(for: locker(machine)) == .noSession)
    }
    try await outside { machine in
      // As a greeter it would be served: the seat shows the locked session of the same user.
      machine.logind.add("c2", ["LockedHint": .boolean(true)])
      machine.logind.show("c2")
      #expect(await machine.refusal(for: locker(machine)) == .noSession)
      // Plasma starts its lock screen under the user's service manager.
      machine.logind.setOwner(LogindStandIn.ownUser, of: getpid())
      machine.logind.setDisplay("c2")
      #expect(await machine.refusal(for: locker(machine)) == nil)
      machine.logind.change("c2", ["Remote": .boolean(true)])
      #expect(await machine.refusal(for: locker(machine)) == .remote)
    }
  }

  @Test(
    "a finger for a login at a virtual console is allowed without a session",
    arguments: [
      ("tty1", true), ("/dev/tty63", true), ("tty0", false), ("tty64", false), ("ttyS0", false), ("/dev/pts/1", false),
      ("tty", false), (":0", false), ("", false),
    ])
  func console(_ terminal: String, _ isAllowed: Bool) async throws {
    try await outside { machine in
      let refusal = await machine.refusal(for: caller(machine, isGreeter: true, terminal: terminal))
      #expect(refusal == (isAllowed ? nil : .noSession))
    }
  }

  @Test("a finger for a login is never allowed under a closed lid, during sleep, or if logind cannot be asked")
  func machine() async throws {
    try await Machine.with { machine in
      let sudo = caller(machine, isGreeter: false)
      machine.logind.set("LidClosed", true)
      #expect(await machine.refusal(for: sudo, at: .underLid) == .lidClosed)
      #expect(await machine.refusal(for: sudo) == nil)
      machine.logind.set("PreparingForSleep", true)
      #expect(await machine.refusal(for: sudo) == .sleeping)
      machine.logind.set("PreparingForSleep", false)
      for manner in [LogindStandIn.Manner.nonsense, .silent] {
        machine.logind.manner = manner
        #expect(await machine.refusal(for: sudo) == .unknown)
      }
    }
  }

  @Test("a finger for a login is allowed until the seat shows another session")
  func switched() async throws {
    try await outside { machine in
      machine.logind.add("c2", user: Self.stranger, ["Class": .string("greeter")])
      machine.logind.add("c3", user: Self.stranger)
      machine.logind.show("c2")
      let greeter = caller(machine, isGreeter: true)
      let ending = Task { await machine.sessions.untilRefused(for: greeter) }
      let before = machine.logind.calls
      try #require(try await eventually { machine.logind.calls > before + 2 })
      machine.logind.show("c3")
      #expect(await ending.value == .inactive)
    }
  }
}
