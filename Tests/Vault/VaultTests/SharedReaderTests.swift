import Glibc
import Primitives
import ProgramDriver
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Two users' vaults on one reader")
struct SharedReaderTests {
  /// The store of one user, with a finger of one person.
  private struct Household {
    let image: ImageReaderStore
    let stores: [ScratchStore]
    let desk: ReaderDesk
    let vaults: [Vault]
    let sessions: [VaultSession]

    init() async throws {
      image = try await ImageReaderStore()
      stores = [try await ScratchStore(owner: 1000), try await ScratchStore(owner: 1001)]
      let desk = ReaderDesk(image.process, locks: ReaderLocks(runtimeFolder: image.store.folder))
      self.desk = desk
      vaults = try stores.map { try $0.open(desk: desk) }
      sessions = try zip(vaults, stores).map {
        try VaultSession(of: $0, for: Caller(user: $1.owner, label: "program of \($1.owner)"))
      }
      for (index, vault) in vaults.enumerated() {
        let touches = (1...6).map { image.press(.rightIndex, person: index + 1, UInt64($0)) }
        let person = Person(passcodes: [ScratchStore.passcode], touches: touches)
        _ = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }
        try await vault.put("item", "of \(index)", .anyFinger)
      }
    }

    func get(_ index: Int, by person: Person, timeout: Duration = .seconds(30)) async throws -> String {
      let session = sessions[index]
      let name = try ItemName(parsing: "item")
      return try await person.with(session, ContextOptions(timeout: timeout)) {
        try await session.secrets(.names([name]), Asking(in: $0))[0].text
      }
    }

    /// Presses a user's finger after the other user's person was told to wait.
    func pressWhen(_ index: Int, waits other: Person) -> @Sendable () async throws -> Void {
      let press = image.press(.rightIndex, person: index + 1)
      return {
        while !other.isTold { try await Task.sleep(for: .milliseconds(5)) }
        try await press()
      }
    }
  }

  @Test("two users' vaults use one reader one after the other, each with a touch of its own user's finger")
  func oneAfterTheOther() async throws {
    let house = try await Household()
    let second = Person(touches: [house.image.press(.rightIndex, person: 2)])
    let first = Person(touches: [house.pressWhen(0, waits: second)])
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try await house.get(1, by: second) == "of 1")
    #expect(try await reading.value == "of 0")
    #expect(first.touchesWanted == 1)
    #expect(second.touchesWanted == 1)
    for vault in house.vaults { #expect(try await vault.status().failures == 0) }
    await house.desk.shutdown()
  }

  @Test("one touch does not answer the vaults of two users, and neither user's finger opens an item of the other")
  func oneTouch() async throws {
    let house = try await Household()
    // The waiting request is armed after the other finger was lifted, and nobody touches again.
    let second = Person()
    let first = Person(touches: [house.pressWhen(0, waits: second)])
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    await #expect(throws: VaultError.timedOut) { try await house.get(1, by: second, timeout: .seconds(3)) }
    #expect(try await reading.value == "of 0")
    #expect(second.touchesWanted == 1)
    let stranger = Person(touches: (1...3).map { _ in house.image.press(.rightIndex, person: 1) })
    await #expect(throws: VaultError.authenticationFailed) { try await house.get(1, by: stranger) }
    #expect(try await house.vaults[1].status().failures == 3)
    #expect(try await house.vaults[0].status().failures == 0)
    let both = Person(touches: [2, 1].map { house.image.press(.rightIndex, person: $0) })
    #expect(try await house.get(0, by: both) == "of 0")
    #expect(both.touchesWanted == 2)
    await house.desk.shutdown()
  }

  @Test("a shared reader is closed before sleep, its armed scan counts no failure, and it is found again later")
  func sleep() async throws {
    let house = try await Household()
    let first = Person()
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    let before = processes(with: house.image.socket).filter { $0 != getpid() }
    try #require(before.count == 1)
    await house.desk.suspend()
    #expect(processes(with: house.image.socket).filter { $0 != getpid() }.isEmpty, "its process has ended")
    await #expect(throws: VaultError.reader(.suspended)) { try await reading.value }
    await #expect(throws: VaultError.reader(.suspended)) { try await house.get(1, by: Person()) }
    #expect(try await house.vaults[0].status().failures == 0)
    await house.desk.resume()
    let person = Person(touches: [house.image.press(.rightIndex, person: 1)])
    #expect(try await house.get(0, by: person) == "of 0")
    #expect(processes(with: house.image.socket).allSatisfy { !before.contains($0) })
    await house.desk.shutdown()
  }

  @Test("a request that its program ends while the finger is awaited does not delay the next one")
  func ended() async throws {
    let house = try await Household()
    let (handle, events) = try await house.sessions[0].openContext(ContextOptions())
    let reading = Task {
      try await house.sessions[0].secrets(.names([try ItemName(parsing: "item")]), Asking(in: handle))
    }
    for await event in events {
      guard case .touchWanted = event.event else { continue }
      break
    }
    await house.sessions[0].closeContext(handle, reason: .program)
    _ = await reading.result
    let ended = ContinuousClock.now
    let asked = Mutex<ContinuousClock.Instant?>(nil)
    let press = house.image.press(.rightIndex, person: 1)
    let next = Person(touches: [
      {
        asked.withLock { $0 = .now }
        try await press()
      }
    ])
    #expect(try await house.get(0, by: next) == "of 0")
    let late = try #require(asked.withLock { $0 }) - ended
    #expect(late < .nanoseconds(FingerLift.assumedAfter), "the finger is asked for \(late) later")
    await house.desk.shutdown()
  }

  @Test("a request that waits for another user's touch ends at its own timeout, and can be cancelled")
  func bounded() async throws {
    let house = try await Household()
    let first = Person()
    let reading = Task { try await house.get(0, by: first) }
    while first.touchesWanted == 0 { try await Task.sleep(for: .milliseconds(5)) }
    await #expect(throws: VaultError.busy("another program is waiting for a finger")) {
      try await house.get(1, by: Person(), timeout: .milliseconds(300))
    }
    let session = house.sessions[1]
    let (handle, events) = try await session.openContext(ContextOptions())
    let waiting = Task { try await session.secrets(.names([ItemName(parsing: "item")]), Asking(in: handle)) }
    for await event in events {
      guard case .notice(.readerInUse(.anotherUser)) = event.event else { continue }
      await session.respond(handle, .cancel)
      break
    }
    await #expect(throws: VaultError.cancelled) { _ = try await waiting.value }
    reading.cancel()
    await #expect(throws: VaultError.cancelled) { try await reading.value }
    let person = Person(touches: [house.image.press(.rightIndex, person: 2)])
    #expect(try await house.get(1, by: person) == "of 1")
    await house.desk.shutdown()
  }
}

extension Person {
  fileprivate var isTold: Bool { events.contains { if case .notice(.readerInUse) = $0 { true } else { false } } }
  fileprivate var touchesWanted: Int { events.count { if case .touchWanted = $0 { true } else { false } } }
}
