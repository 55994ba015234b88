import Presence
import Primitives
import ReaderClient
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("Restrictions by the login session")
struct SessionGateTests {
  /// A login session that a test controls.
  private final class Session: SessionGate {
    private let refused = Mutex<SessionRefusal?>(nil)
    let lidIsClosed = Mutex(false)

    func refuse(_ reason: SessionRefusal?) { refused.withLock { $0 = reason } }
    func refusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? {
      if let reason = refused.withLock({ $0 }) { return reason }
      return place == .underLid && lidIsClosed.withLock { $0 } ? .lidClosed : nil
    }
    // `ClassKeyTests` tests the effect of locked sessions.
    func isUnlocked(_ user: UInt32) async -> Bool { true }

    func sessionRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? {
      await refusal(for: caller, at: place)
    }

    func sessionChange(from known: SessionRefusal?, for caller: Caller) async {
      while !Task.isCancelled, await refusal(for: caller, at: .underLid) == known {
        try? await Task.sleep(for: .milliseconds(2))
      }
    }

    func untilRefused(for caller: Caller) async -> SessionRefusal {
      while !Task.isCancelled {
        if let reason = refused.withLock({ $0 }) { return reason }
        try? await Task.sleep(for: .milliseconds(2))
      }
      return .unknown
    }
  }

  private let image: ImageReaderStore
  private let session = Session()
  private let vault: Vault
  private let steps = Steps()

  private final class Steps: Sendable {
    private let seen = Mutex<[InterposedReader.Step]>([])
    func note(_ step: InterposedReader.Step) { seen.withLock { $0.append(step) } }
    func take() -> [InterposedReader.Step] {
      seen.withLock { seen in
        defer { seen = [] }
        return seen
      }
    }
  }

  init() async throws {
    image = try await ImageReaderStore()
    vault = try image.store.open(
      reader: InterposedReader(real: image.process, at: { [steps] in steps.note($0) }), gate: session)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("finger", "secret", .anyFinger)
    try await vault.put("presence", "secret", .presence)
    _ = steps.take()
  }

  @Test("a request in a restricted login session is refused before the reader is used, and counts no failure")
  func before() async throws {
    for reason in SessionRefusal.allCases {
      session.refuse(reason)
      let person = Person(touches: [image.press(.rightIndex)])
      await #expect(throws: VaultError.sessionRefused(reason)) { try await vault.get("finger", by: person) }
      #expect(person.events.isEmpty)
      await #expect(throws: VaultError.sessionRefused(reason)) { try await image.enroll(.leftIndex, in: vault) }
    }
    #expect(steps.take().isEmpty, "the reader was not even looked for")
    #expect(try await vault.status().failures == 0)
    session.refuse(nil)
    #expect(try await vault.get("finger", by: Person(touches: [image.press(.rightIndex)])) == "secret")
    await vault.shutdown()
  }

  @Test("a login session that becomes restricted ends an armed scan, with a failure if a finger was seen")
  func during() async throws {
    let locked = Person(touches: [{ session.refuse(.locked) }])
    await #expect(throws: VaultError.sessionRefused(.locked)) { try await vault.get("finger", by: locked) }
    #expect(locked.events.count == 1, "the touch that was wanted")
    #expect(try await vault.status().failures == 0)
    session.refuse(nil)
    let (handle, events) = try await vault.openContext()
    let reading = Task { try await vault.read([ItemName(parsing: "finger")], reason: nil, in: handle) }
    let press = image.press(.leftRing)
    for await event in events {
      if case .touchWanted = event.event { try await press() }
      guard case .fingerPresent(true) = event.event else { continue }
      session.refuse(.sleeping)
      break
    }
    await #expect(throws: (any Error).self) { _ = try await reading.value }
    #expect(try await vault.status().failures == 1)
    await vault.shutdown()
  }

  @Test("a login session that becomes inactive ends an enrolment, which changes no finger")
  func enrolment() async throws {
    let before = try await vault.status().sets[0].digest
    let stage = image.press(.leftIndex)
    let person = Person(passcodes: [ScratchStore.passcode], touches: [stage, { session.refuse(.inactive) }])
    await #expect(throws: VaultError.sessionRefused(.inactive)) {
      try await person.with(vault) { try await vault.enroll(.leftIndex, in: $0) }
    }
    #expect(try await vault.status().sets[0].digest == before)
    await vault.shutdown()
  }

  @Test("a closed lid refuses requests only if the single reader is built in, which is then not opened")
  func lid() async throws {
    await vault.shutdown()
    session.lidIsClosed.withLock { $0 = true }
    var beside = try #require(try await image.process.readers().first)
    beside.identity.serial = "beside it"
    for (port, others, isRefused) in [("1-2", [], true), (nil, [], false), ("1-2", [beside], false)]
      as [(String?, [ReaderDescription], Bool)]
    {
      // A reader other than that of the enrolled finger.
      let reader = InterposedReader(
        real: image.process, beside: others,
        describing: { description in
          var description = description
          description.identity.serial = "another"
          description.identity.fixedPort = port
          return description
        }, at: { [steps] in steps.note($0) })
      let vault = try image.store.open(reader: reader, gate: session)
      await #expect(throws: isRefused ? VaultError.sessionRefused(.lidClosed) : .notEnrolled) {
        try await vault.get("finger", by: Person())
      }
      #expect(steps.take().contains(.opening) != isRefused)
      await vault.shutdown()
    }
  }

  @Test("a restricted login session allows the passcode where it may replace the finger")
  func passcode() async throws {
    session.refuse(.remote)
    let person = Person(passcodes: [ScratchStore.passcode])
    #expect(try await vault.get("presence", by: person) == "secret")
    let reasons = person.events.compactMap { event -> VaultError? in
      if case .fingerUnavailable(let error) = event { error } else { nil }
    }
    #expect(reasons == [.sessionRefused(.remote)])
  }
}
