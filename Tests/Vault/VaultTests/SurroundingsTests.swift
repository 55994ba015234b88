import Glibc
import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("A client that waits for a change of session, reader, fingers or passcode", .timeLimit(.minutes(2)))
struct SurroundingsTests {
  private let image: ImageReaderStore
  private let buses: String
  private let session = GateOfTest()

  /// A session and a lid that a test controls.
  private final class GateOfTest: SessionGate {
    private let refused = Mutex<SessionRefusal?>(nil)

    func refuse(_ reason: SessionRefusal?) { refused.withLock { $0 = reason } }
    func refusal(for _: Caller, at place: ReaderPlace) async -> SessionRefusal? {
      let reason = refused.withLock { $0 }
      return reason == .lidClosed && place != .underLid ? nil : reason
    }
    func sessionRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? {
      await refusal(for: caller, at: place)
    }
    func sessionChange(from known: SessionRefusal?, for caller: Caller) async {
      while !Task.isCancelled, await refusal(for: caller, at: .underLid) == known {
        try? await Task.sleep(for: .milliseconds(2))
      }
    }
    func untilRefused(for caller: Caller) async -> SessionRefusal { await NoSessionGate().untilRefused(for: caller) }
    nonisolated(nonsending) func isUnlocked(_: UInt32) async -> Bool { true }
  }

  init() async throws {
    image = try await ImageReaderStore()
    buses = image.store.folder + "/buses"
    try #require(mkdir(buses, 0o700) == 0 && mkdir(buses + "/001", 0o700) == 0)
  }

  private func opened(describing: (@Sendable (ReaderDescription) -> ReaderDescription)? = nil) throws -> Vault {
    let reader: any FingerprintReader =
      if let describing { InterposedReader(real: image.process, describing: describing) } else { image.process }
    let desk = ReaderDesk(
      reader, locks: ReaderLocks(runtimeFolder: image.store.folder), devices: DeviceWatch(of: buses))
    return try image.store.open(gate: session, desk: desk)
  }

  /// Whether a wait ends by what happens, and not before.
  private func isWoken(_ session: VaultSession, by happening: () async throws -> Void) async throws -> Bool {
    let known = try await session.surroundings(otherThan: nil)
    let ended = Mutex(false)
    let waiting = Task {
      let surroundings = try await session.surroundings(otherThan: known)
      ended.withLock { $0 = true }
      return surroundings
    }
    try await Task.sleep(for: .milliseconds(50))
    #expect(!ended.withLock { $0 }, "nothing has happened yet")
    try await happening()
    for _ in 0..<100 where !ended.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
    waiting.cancel()
    return (try? await waiting.value) != nil
  }

  @Test("a client that waits for changes is notified of fingers, a lockout and the passcode, and not of items")
  func proofs() async throws {
    let vault = try opened()
    let client = VaultSession(of: vault)
    #expect(try await isWoken(client) { _ = try await image.enroll(.rightIndex, in: vault) })
    #expect(try await !isWoken(client) { try await vault.put("finger", "secret", .anyFinger) })
    #expect(
      try await !isWoken(client) {
        _ = try await vault.get("finger", by: Person(touches: [image.press(.rightIndex)]))
      }, "a touch that matches")
    #expect(
      try await isWoken(client) {
        for _ in 1...2 {
          let stranger = image.press(.rightIndex, person: 2)
          _ = try? await vault.get("finger", by: Person(touches: [stranger, stranger, stranger]))
        }
      }, "a lockout begins")
    #expect(
      try await isWoken(client) {
        try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.unlock(in: $0) }
      }, "a lockout ends")
    #expect(
      try await isWoken(client) {
        _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) {
          try await vault.unenroll(.rightIndex, in: $0)
        }
      })
    #expect(
      try await isWoken(client) {
        _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.removePasscode(in: $0) }
      })
    await vault.shutdown()
  }

  @Test("a client that waits for changes is notified of locked sessions, even if they are unlocked by then")
  func locks() async throws {
    let vault = try opened()
    let client = VaultSession(of: vault)
    let before = try await client.surroundings(otherThan: nil)
    #expect(try await isWoken(client) { await vault.sessionsLocked() })
    #expect(try await vault.openClasses().contains(.whenUnlocked), "they are unlocked again")
    #expect(try await client.surroundings(otherThan: nil).locks > before.locks)
    #expect(try await client.surroundings(otherThan: before).locks > before.locks, "a change before the wait")
    await vault.shutdown()
  }

  @Test("a client that waits for changes is notified of its login session and of the lid")
  func gate() async throws {
    let vault = try opened()
    let client = VaultSession(of: vault)
    for refusal in [SessionRefusal.lidClosed, .inactive, .locked, nil] {
      #expect(try await isWoken(client) { session.refuse(refusal) })
      #expect(try await client.surroundings(otherThan: nil).refusal == refusal)
    }
    await vault.shutdown()
  }

  @Test("a client that waits for changes is notified of USB devices that come and go, also on a new bus")
  func devices() async throws {
    let vault = try opened()
    let client = VaultSession(of: vault)
    let nodes = ["\(buses)/001/004", "\(buses)/002/001"]
    #expect(try await isWoken(client) { close(open(nodes[0], O_CREAT | O_WRONLY, 0o600)) })
    #expect(try await isWoken(client) { unlink(nodes[0]) })
    #expect(try await isWoken(client) { mkdir("\(buses)/002", 0o700) })
    #expect(try await isWoken(client) { close(open(nodes[1], O_CREAT | O_WRONLY, 0o600)) })
    await vault.shutdown()
  }

  @Test("a built-in reader is out of reach under a closed lid, and every reader in a remote session")
  func reach() async throws {
    for (port, refusal, isOut) in [
      ("1-2", SessionRefusal.lidClosed, true), (nil, .lidClosed, false), ("1-2", .remote, true), (nil, .remote, true),
      ("1-2", .inactive, false),
    ] as [(String?, SessionRefusal, Bool)] {
      let vault = try opened { description in
        var description = description
        description.identity.fixedPort = port
        return description
      }
      session.refuse(nil)
      _ = try await image.enroll(.rightIndex, in: vault)
      #expect(try await vault.biometry().problem == nil)
      session.refuse(refusal)
      let biometry = try await vault.biometry()
      #expect(biometry.isOutOfReach == isOut)
      #expect(biometry.problem == (isOut ? .sessionRefused(refusal) : nil))
      session.refuse(nil)
      await vault.shutdown()
    }
  }
}
