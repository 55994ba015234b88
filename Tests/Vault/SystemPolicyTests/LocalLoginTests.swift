import Glibc
import ProgramDriver
import SDBus
import Testing
import VaultHost

@Suite("A local login", .timeLimit(.minutes(2)))
struct LocalLoginTests {
  @Test("a local login is a session of the same user, of class user, that did not come over the network")
  func sessions() async throws {
    try await Machine.with { machine in
      let user = getuid()
      func isLocal(_ session: String, _ user: UInt32) async -> Bool {
        await machine.sessions.isLocalLogin(session, of: user)
      }
      // Its state while the login program opens it.
      machine.logind.add("c2", ["State": .string("opening"), "Seat": LogindStandIn.noSeat])
      #expect(await isLocal("c2", user))
      #expect(await isLocal("c1", user))
      #expect(await !isLocal("c1", user + 1))
      #expect(await !isLocal("c9", user))
      #expect(await !isLocal("", user))
      let others: [[String: BusValue]] = [
        ["Remote": .boolean(true)], ["State": .string("closing")], ["Class": .string("greeter")],
        ["Class": .string("background")], ["Class": .string("user-light")], ["Class": .string("manager")],
        ["Class": .string("lock-screen")], ["User": .structure([.uint32(user + 1), .objectPath("/")])],
      ]
      for changes in others {
        machine.logind.add("c3", changes)
        #expect(await !isLocal("c3", user), "\(changes)")
      }
      for manner in [LogindStandIn.Manner.nonsense, .silent] {
        machine.logind.manner = manner
        #expect(await !isLocal("c1", user))
      }
    }
  }
}
