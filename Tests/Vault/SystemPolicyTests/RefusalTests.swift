import Glibc
import ProgramDriver
import SDBus
import SecretModel
import Testing
import VaultHost

@Suite("The reader is armed", .timeLimit(.minutes(2)))
struct RefusalTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let session: [String: BusValue]
    let refusal: SessionRefusal?

    init(_ description: String, _ session: [String: BusValue], _ refusal: SessionRefusal?) {
      (testDescription, self.session, self.refusal) = (description, session, refusal)
    }
  }

  static let cases: [Case] = [
    .init("an active session at the reader's seat", [:], nil),
    .init("a remote session", ["Remote": .boolean(true), "Seat": LogindStandIn.noSeat], .remote),
    .init("a remote session that says it has a seat", ["Remote": .boolean(true)], .remote),
    .init("a session in the background of its seat", ["State": .string("online")], .inactive),
    .init("a session that is being set up", ["State": .string("opening")], .inactive),
    .init("a session whose user has logged out", ["State": .string("closing")], .noSession),
    .init("a session at no seat", ["Seat": LogindStandIn.noSeat], .noSession),
    .init("a session at another seat", ["Seat": LogindStandIn.seat("seat1")], .noSession),
    .init("a locked session", ["LockedHint": .boolean(true)], .locked),
    .init("a greeter", ["Class": .string("greeter")], .noSession),
    .init("a cron job", ["Class": .string("background"), "Seat": LogindStandIn.noSeat], .noSession),
    .init("a session that does not say whether it is remote", ["Remote": .string("no")], .unknown),
    .init("a session with a seat of another type", ["Seat": .string("seat0")], .unknown),
    .init("a session with a lock of another type", ["LockedHint": .uint32(0)], .unknown),
    .init("a session with a state of another type", ["State": .boolean(true)], .unknown),
  ]

  @Test("the reader is armed only for a program in an active local session", arguments: cases)
  func sessions(_ one: Case) async throws {
    try await Machine.with { machine in
      machine.logind.add("c1", process: getpid(), one.session)
      #expect(await machine.refusal() == one.refusal)
    }
  }

  @Test("a thousand requests for the reader at once make few calls to logind, and the next request makes new ones")
  func manyAtOnce() async throws {
    try await Machine.with { machine in
      let start = machine.logind.calls
      #expect(await machine.refusal() == nil)
      let once = machine.logind.calls - start
      await withTaskGroup(of: SessionRefusal?.self) { group in
        for _ in 0..<1_000 { group.addTask { await machine.refusal() } }
        for await refusal in group { #expect(refusal == nil) }
      }
      #expect(machine.logind.calls - start < 20 * once)
      machine.logind.change("c1", ["LockedHint": .boolean(true)])
      #expect(await machine.refusal() == .locked)
    }
  }

  @Test("the reader is armed for a program outside of any session by the rules of its user's display session")
  func outside() async throws {
    try await Machine.with { machine in
      machine.logind.remove("c1")
      machine.logind.setDisplay(nil)
      #expect(await machine.refusal() == .noSession)
      machine.logind.add("c2")
      machine.logind.setDisplay("c2")
      #expect(await machine.refusal() == nil)
      machine.logind.change("c2", ["LockedHint": .boolean(true)])
      #expect(await machine.refusal() == .locked)
      machine.logind.change("c2", ["LockedHint": .boolean(false), "Remote": .boolean(true)])
      #expect(await machine.refusal() == .remote)
      // A user whom logind does not know.
      var stranger = machine.caller
      stranger.user = 4_242
      #expect(await machine.refusal(for: stranger) == .noSession)
    }
  }

  @Test("the reader is armed for a program of the user's service manager by the display session")
  func serviceManager() async throws {
    try await Machine.with { machine in
      machine.logind.add(
        "c1", process: getpid(), ["Class": .string("manager"), "Seat": LogindStandIn.noSeat])
      machine.logind.setDisplay(nil)
      #expect(await machine.refusal() == .noSession)
      machine.logind.add("c2")
      machine.logind.setDisplay("c2")
      #expect(await machine.refusal() == nil)
    }
  }

  @Test("a closed lid keeps a built-in reader from being armed, and no other reader")
  func lid() async throws {
    try await Machine.with { machine in
      #expect(await machine.refusal(at: .underLid) == nil)
      machine.logind.set("LidClosed", true)
      #expect(await machine.refusal(at: .underLid) == .lidClosed)
      #expect(await machine.refusal(at: .inReach) == nil)
    }
  }

  @Test("the reader is not armed during sleep, whether logind signals or answers it, and is armed again afterwards")
  func sleep() async throws {
    try await Machine.with { machine in
      machine.logind.set("PreparingForSleep", true)
      #expect(await machine.refusal() == .sleeping)
      machine.logind.set("PreparingForSleep", false)
      #expect(await machine.refusal() == nil)

      machine.logind.prepareForSleep(true)
      // This answer shows that the signal has arrived. From then on logind's property does not count.
      #expect(await machine.refusal() == .sleeping)
      machine.logind.set("PreparingForSleep", false)
      #expect(await machine.refusal() == .sleeping)
      machine.logind.prepareForSleep(false)
      while await machine.refusal() == .sleeping { try await Task.sleep(for: .milliseconds(5)) }
      #expect(await machine.refusal() == nil)
    }
  }

  @Test("the reader is not armed for a program that has ended, or one that reuses its number")
  func pinned() async throws {
    try await Machine.with { machine in
      var other = machine.caller
      other.process?.started += 1
      #expect(await machine.refusal(for: other) == .unknown)
      other.process = nil
      #expect(await machine.refusal(for: other) == .unknown)
    }
  }

  @Test("the reader is armed only if polkit's rules allow it, without a prompt")
  func polkit() async throws {
    try await Machine.with { machine in
      machine.polkit.manner = .answers(authorized: false, challenge: false)
      #expect(await machine.refusal() == .notPermitted)
      machine.polkit.manner = .answers(authorized: false, challenge: true)
      #expect(await machine.refusal() == .notPermitted)
      machine.polkit.manner = .error
      #expect(await machine.refusal() == .unknown)
      #expect(machine.polkit.questions.allSatisfy { $0.action == "org.whorl.use" && $0.flags == 0 })
      machine.polkit.close()
      #expect(await machine.refusal() == .unknown)
    }
  }

  @Test("the reader is armed even if logind and polkit take seconds to answer, as on a machine under load")
  func slow() async throws {
    try await Machine.with { machine in
      machine.logind.manner = .silent
      machine.polkit.manner = .silent
      async let refusal = machine.refusal()
      try await Task.sleep(for: .seconds(3))
      machine.logind.answerAll()
      try #require(try await eventually { machine.polkit.questions.count == 1 })
      try await Task.sleep(for: .seconds(3))
      machine.polkit.answerAll()
      #expect(await refusal == nil)
    }
  }

  @Test("the reader is not armed while logind hangs, answers nonsense or does not run, and is armed again afterwards")
  func logindTrouble() async throws {
    try await Machine.with { machine in
      machine.logind.manner = .silent
      #expect(await machine.refusal() == .unknown)
      machine.logind.manner = .nonsense
      #expect(await machine.refusal() == .unknown)
      machine.logind.manner = .proper
      #expect(await machine.refusal() == nil)
      machine.logind.close()
      #expect(await machine.refusal() == .unknown)
      let next = try await LogindStandIn(on: machine.bus)
      next.add("c1", process: getpid())
      #expect(await machine.refusal() == nil)
      next.close()
    }
    let nobody = "unix:path=/tmp/whorl-no-such-bus"
    let sessions = LoginSessions(polkit: Polkit(bus: nobody), bus: nobody)
    #expect(await sessions.refusal(for: try .thisProcess, at: .inReach) == .unknown)
    #expect(await sessions.isUnlocked(getuid()) == false)
  }
}
