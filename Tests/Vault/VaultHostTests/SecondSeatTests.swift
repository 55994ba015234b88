import Glibc
import Primitives
import ProgramDriver
import SecretModel
import Testing
import VaultDriver
import VaultHost
import VirtualFinger

@Suite("A session at a second seat", .timeLimit(.minutes(3)))
struct SecondSeatTests {
  @Test("a program at a second seat gets no touch of the first seat's reader, whatever it asks for")
  func everyRequest() async throws {
    try await PrivateBus.withSession { bus, logind, polkit in
      let sessions = LoginSessions(polkit: Polkit(bus: bus.address), bus: bus.address)
      let service = try RunningService(sessions: sessions)
      try await service.makeStore()
      let connection = try service.connect()
      let vault = try await connection.open(.own)
      let sensor = service.folder + "/sensor"
      let finger = SyntheticFinger(person: 1, finger: .rightIndex)
      @Sendable func press(_ number: UInt64) async throws {
        try await onThread {
          try VirtualImageReader(socket: sensor, patience: .seconds(15)).press(finger.impression(number))
        }
      }
      let enrolling = Person(
        passcodes: [RunningService.passcode], touches: (1...6).map { number in { try await press(number) } })
      _ = try await enrolling.with(vault) { try await vault.enroll(.rightIndex, Asking(in: $0)) }
      let access = AccessControl(.anyFinger)
      let item = NewItem(.genericPassword, [.service: .text("bank")], access: access)
      let id = try await vault.add(item, secret: SecretBytes(text: "gold"), replacing: false, .nobody).id
      let key = try await vault.addKey(
        NewItem(.key, [.label: .text("signing")], access: access), from: .generated(.ed25519)
      ).id

      let requests: [(String, @Sendable (Asking) async throws -> Void)] = [
        ("read", { _ = try await vault.secrets(.ids([id]), $0) }),
        ("sign", { _ = try await vault.useKey(key, .sign([1], .ed25519), $0) }),
        ("evaluate", { _ = try await vault.evaluate(.access(access), $0) }),
        (
          "passkey",
          {
            let passkey = NewPasskey(
              relyingParty: "example.com", user: Passkey.User(handle: [1], name: "alice", displayName: "Alice"),
              isDiscoverable: true, clientDataHash: [UInt8](repeating: 3, count: 32))
            _ = try await vault.makePasskey(passkey, $0)
          }
        ),
      ]
      func refused(_ name: String, _ person: Person, _ request: @Sendable (Asking) async throws -> Void) async throws {
        do {
          try await person.with(vault) { try await request(Asking(in: $0)) }
          Issue.record("\(name) was allowed at a second seat")
        } catch VaultError.sessionRefused(.noSession) {}
        #expect(!person.events.contains { if case .touchWanted = $0 { true } else { false } }, "\(name)")
      }
      logind.change("c1", ["Seat": LogindStandIn.seat("seat1")])
      for (name, request) in requests { try await refused(name, Person(), request) }

      // It is moved there while the reader waits for a finger.
      logind.change("c1", ["Seat": LogindStandIn.seat("seat0")])
      let moving = Person(touches: [{ logind.change("c1", ["Seat": LogindStandIn.seat("seat1")]) }])
      await #expect(throws: VaultError.sessionRefused(.noSession)) {
        try await moving.with(vault) { try await requests[0].1(Asking(in: $0)) }
      }
      #expect(try await vault.status().failures == 0)

      logind.change("c1", ["Seat": LogindStandIn.seat("seat0")])
      let back = Person(touches: (100...102).map { number in { try await press(number) } })
      try await back.with(vault) { try await requests[0].1(Asking(in: $0)) }
      await connection.close()
      try await service.end()
    }
  }
}
