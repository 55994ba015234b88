import GRDB
import Glibc
import Primitives
import ProgramDriver
import ReaderClient
import Synchronization
import Testing
import VaultDriver
import VirtualFinger

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A secret behind a finger, through libfprint's virtual image reader")
struct TouchTests {
  private static let right = ScratchStore.passcode

  @Test("the enrolled finger opens bound items; another does not, and counts as a failure")
  func rightAndWrong() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    let change = try await image.enroll(.rightIndex, in: vault)
    #expect(change.fingers.map(\.finger) == [.rightIndex])
    try await vault.put("bound", "secret", .currentSet)
    #expect(try await vault.get("bound", by: Person(touches: [image.press(.rightIndex)])) == "secret")
    let person = Person(touches: [image.press(.leftThumb), image.press(.rightIndex)])
    #expect(try await vault.get("bound", by: person) == "secret")
    let outcomes = person.events.compactMap { event -> String? in
      switch event {
      case .noMatch(let remaining): "no match, \(remaining) left"
      case .matched: "matched"
      default: nil
      }
    }
    #expect(outcomes == ["no match, 2 left", "matched"])
    #expect(try await vault.status().failures == 0, "a match sets the count back")
  }

  @Test("three wrong touches end a request, five in a row lock biometry for every program, and the passcode resets it")
  func lockout() async throws {
    let image = try await ImageReaderStore()
    do {
      let vault = try image.store.open(reader: image.process)
      _ = try await image.enroll(.rightIndex, in: vault)
      try await vault.put("bound", "secret", .anyFinger)
      let wrong = (1...3).map { image.press(.leftRing, UInt64($0)) }
      await #expect(throws: VaultError.authenticationFailed) {
        try await vault.get("bound", by: Person(touches: wrong))
      }
      #expect(try await vault.status().failures == 3)
    }
    let other = try image.store.open(reader: image.process)
    let stranger = Person(touches: (4...6).map { image.press(.leftRing, UInt64($0)) })
    await #expect(throws: VaultError.biometryLockout) { try await other.get("bound", by: stranger) }
    let left = stranger.events.compactMap { if case .noMatch(let remaining) = $0 { remaining } else { nil } }
    #expect(left == [1, 0], "the lockout ends this request, so no third touch is announced")
    let person = Person(touches: [image.press(.rightIndex)])
    await #expect(throws: VaultError.biometryLockout) { try await other.get("bound", by: person) }
    #expect(person.events.isEmpty, "the reader is not even armed")
    try await Person(passcodes: [Self.right]).with(other) { try await other.unlock(in: $0) }
    #expect(try await other.get("bound", by: Person(touches: [image.press(.rightIndex)])) == "secret")
  }

  @Test("adding, replacing or removing a finger destroys the items bound to the set of fingers, and no others")
  func setChanges() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    var digests: [[UInt8]] = [try await vault.status().sets[0].digest]
    for (step, finger) in [Finger.leftIndex, .leftIndex].enumerated() {
      try await vault.put("bound \(step)", "dies", .currentSet)
      try await vault.put("any \(step)", "lives", .anyFinger)
      let change = try await image.enroll(finger, in: vault)
      #expect(change.lost.map(\.description) == ["bound \(step)"])
      digests.append(try await vault.status().sets[0].digest)
    }
    try await vault.put("bound 2", "dies", .currentSet)
    let change = try await Person(passcodes: [Self.right]).with(vault) { try await vault.unenroll(.leftIndex, in: $0) }
    #expect(change.lost.map(\.description) == ["bound 2"])
    #expect(change.fingers.map(\.finger) == [.rightIndex])
    digests.append(try await vault.status().sets[0].digest)
    #expect(Set(digests).count == 4, "going back to an earlier set is another set")
    for step in 0...2 {
      let person = Person(touches: [image.press(.rightIndex)])
      await #expect(throws: VaultError.itemInvalidated(try ItemName(parsing: "bound \(step)"))) {
        try await vault.get("bound \(step)", by: person)
      }
      #expect(person.events.isEmpty, "nobody is asked for a touch that cannot help")
    }
    #expect(try await vault.get("any 0", by: Person(touches: [image.press(.rightIndex)])) == "lives")
    try await vault.put("bound 0", "anew", .currentSet)
    #expect(try await vault.get("bound 0", by: Person(touches: [image.press(.rightIndex)])) == "anew")
  }

  @Test("a retry, a cancel and a timeout of a scan do not count as failures")
  func free() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("bound", "secret", .anyFinger)
    let person = Person(touches: [image.retry(), image.retry(), image.retry(), image.press(.rightIndex)])
    #expect(try await vault.get("bound", by: person) == "secret")
    for _ in 1...6 {
      await #expect(throws: VaultError.cancelled) {
        let (handle, events) = try await vault.openContext()
        let reading = Task { try await vault.read([ItemName(parsing: "bound")], reason: nil, in: handle) }
        for await event in events {
          if case .touchWanted = event.event { await vault.respond(handle, .cancel) }
          if case .touchWanted = event.event { break }
        }
        defer { Task { await vault.closeContext(handle) } }
        _ = try await reading.value
      }
    }
    await #expect(throws: VaultError.timedOut) {
      try await vault.get("bound", ContextOptions(timeout: .seconds(2)))
    }
    #expect(try await vault.status().failures == 0)
  }

  @Test("a reader that is slow to list and open is waited for, even with a short timeout for the finger")
  func slowReader() async throws {
    let store = try await ScratchStore()
    let reader = InterposedReader(
      real: ScriptedReader(),
      at: { step in
        if step == .listing || step == .opening { try? await Task.sleep(for: .seconds(2)) }
      })
    let vault = try store.open(reader: reader)
    _ = try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.enroll(.rightIndex, in: $0) }
    try await vault.put("bound", "secret", .anyFinger)
    #expect(try await vault.get("bound", ContextOptions(timeout: .seconds(1)), by: Person()) == "secret")
    await vault.close()
  }

  @Test("a reader that dies during a scan is a definite error that counts as a failure, and the next request works")
  func readerDies() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("bound", "secret", .anyFinger)
    let socket = image.socket
    let killReader: @Sendable () async throws -> Void = {
      for reader in processes(with: "whorl-reader\0--reader\0virtual-image:\(socket)") { kill(reader, SIGKILL) }
    }
    await #expect {
      try await vault.get("bound", by: Person(touches: [killReader]))
    } throws: { error in
      if case .reader(.processDied) = error as? VaultError { true } else { false }
    }
    #expect(try await vault.status().failures == 1)
    #expect(try await vault.get("bound", by: Person(touches: [image.press(.rightIndex)])) == "secret")
  }

  @Test("the rule presence accepts the passcode if the finger fails or the person chooses the passcode")
  func presence() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("presence", "secret", .presence)
    #expect(try await vault.get("presence", by: Person(touches: [image.press(.rightIndex)])) == "secret")
    let wrong = (1...3).map { image.press(.leftRing, UInt64($0)) }
    #expect(try await vault.get("presence", by: Person(passcodes: [Self.right], touches: wrong)) == "secret")
    #expect(try await vault.status().failures == 0, "the right passcode clears the count")
    let (handle, events) = try await vault.openContext()
    let reading = Task { try await vault.read([ItemName(parsing: "presence")], reason: nil, in: handle)[0].text }
    for await event in events {
      if case .touchWanted = event.event { await vault.respond(handle, .fallback) }
      guard case .secretWanted = event.event else { continue }
      await vault.respond(handle, .secret(question: event.number, SecretBytes(text: Self.right)))
      break
    }
    #expect(try await reading.value == "secret")
  }

  @Test("the rule presence asks for the passcode alone while fingers are locked out")
  func presenceInLockout() async throws {
    let store = try await ScratchStore()
    let reader = ScriptedReader()
    let vault = try store.open(reader: reader)
    _ = try await Person(passcodes: [Self.right]).with(vault) { try await vault.enroll(.rightIndex, in: $0) }
    try await vault.put("any", "1", .anyFinger)
    try await vault.put("presence", "2", .presence)
    reader.next(.noMatch, .noMatch, .noMatch, .noMatch, .noMatch)
    await #expect(throws: VaultError.authenticationFailed) { try await vault.get("any") }
    await #expect(throws: VaultError.biometryLockout) { try await vault.get("any") }
    let person = Person(passcodes: [Self.right])
    #expect(try await vault.get("presence", by: person) == "2")
    #expect(!person.events.contains { if case .touchWanted = $0 { true } else { false } })
  }

  @Test("a finger that is already enrolled is refused as another one, and nothing changes")
  func duplicate() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    let before = try await vault.status().sets[0].digest
    let person = Person(passcodes: [Self.right], touches: (11...16).map { image.press(.rightIndex, UInt64($0)) })
    await #expect(throws: VaultError.fingerDuplicate(.rightIndex)) {
      try await person.with(vault) { try await vault.enroll(.leftThumb, in: $0) }
    }
    #expect(try await vault.status().sets[0].digest == before)
  }

  @Test("one touch opens all items of a request, and an enrolment asks for the passcode first")
  func together() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    await #expect(throws: VaultError.wrongPasscode) {
      try await Person(passcodes: ["wrong"]).with(vault) { try await vault.enroll(.rightIndex, in: $0) }
    }
    _ = try await image.enroll(.rightIndex, in: vault)
    for (name, gate) in [("a", AccessControl.Constraint.currentSet), ("b", .anyFinger), ("c", .presence), ("d", .none)]
    {
      try await vault.put(name, name + "!", gate)
    }
    let person = Person(touches: [image.press(.rightIndex)])
    let released = try await person.with(vault) { handle in
      try await vault.read(["d", "c", "b", "a"].map { try ItemName(parsing: $0) }, reason: "all of them", in: handle)
    }
    #expect(released.map(\.text) == ["d!", "c!", "b!", "a!"])
  }

  @Test("a set of fingers that changes between a touch and unwrapping releases no item")
  func changedInFlight() async throws {
    let image = try await ImageReaderStore()
    let armed = Mutex(false)
    let other = try image.store.open()
    let reader = InterposedReader(
      real: image.process,
      beforeAnswer: { answer throws(ReaderError) in
        if armed.withLock({ $0 }) {
          let person = Person(passcodes: [Self.right])
          _ = try? await person.with(other) { try await other.unenroll(.leftIndex, in: $0) }
        }
        return answer
      })
    let vault = try image.store.open(reader: reader)
    _ = try await image.enroll(.rightIndex, in: vault)
    _ = try await image.enroll(.leftIndex, in: vault)
    for gate in [AccessControl.Constraint.anyFinger, .currentSet] {
      try await vault.put("item", "secret", gate, replace: true)
      armed.withLock { $0 = true }
      await #expect("\(gate)") {
        try await vault.get("item", by: Person(touches: [image.press(.rightIndex)]))
      } throws: { error in
        [VaultError.setChanged, .itemInvalidated(try! ItemName(parsing: "item")), .busy("item was changed meanwhile")]
          .contains(error as? VaultError)
      }
      armed.withLock { $0 = false }
      _ = try await image.enroll(.leftIndex, in: vault)
    }
  }

  @Test("a reader's forged answers are refused and counted: another nonce, an unrequested print, an old touch")
  func forged() async throws {
    let image = try await ImageReaderStore()
    let forgery = Mutex<(@Sendable (ScanAnswer) -> ScanAnswer)?>(nil)
    let reader = InterposedReader(
      real: image.process,
      beforeAnswer: { answer throws(ReaderError) in
        forgery.withLock { $0 }?(answer) ?? answer
      })
    let vault = try image.store.open(reader: reader)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("item", "secret", .anyFinger)
    let first = Mutex<ScanAnswer?>(nil)
    let forgeries: [@Sendable (ScanAnswer) -> ScanAnswer] = [
      { answer in
        first.withLock { $0 = answer }
        return ScanAnswer(
          nonce: ScanNonce(bytes: Array(repeating: 0, count: 16)), outcome: answer.outcome,
          finishedAt: answer.finishedAt)
      },
      { ScanAnswer(nonce: $0.nonce, outcome: .match(EnrolmentID(bytes: [1, 2])), finishedAt: $0.finishedAt) },
      { ScanAnswer(nonce: $0.nonce, outcome: $0.outcome, finishedAt: $0.finishedAt - 60_000_000_000) },
      { answer in first.withLock { $0 } ?? answer },
    ]
    for (index, forge) in forgeries.enumerated() {
      forgery.withLock { $0 = forge }
      await #expect(throws: VaultError.touchRefused, "forgery \(index)") {
        try await vault.get("item", by: Person(touches: [image.press(.rightIndex)]))
      }
      #expect(try await vault.status().failures == index + 1, "forgery \(index)")
    }
  }

  @Test("two programs with one store at once each get their secret by a touch of their own")
  func twoPrograms() async throws {
    let image = try await ImageReaderStore()
    let first = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: first)
    try await first.put("one", "1", .anyFinger)
    try await first.put("two", "2", .anyFinger)
    let second = try image.store.open(reader: image.process)
    let (one, two) = (Person(touches: [image.press(.rightIndex, 51)]), Person(touches: [image.press(.rightIndex, 52)]))
    async let a = first.get("one", by: one)
    async let b = second.get("two", by: two)
    #expect(try await a == "1")
    #expect(try await b == "2")
    for person in [one, two] {
      let touches = person.events.filter { if case .touchWanted = $0 { true } else { false } }
      #expect(touches.count == 1)
    }
  }

  @Test("a scan that is cancelled after a finger was seen still counts, so that cancelling does not give free tries")
  func endedInTime() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("bound", "secret", .anyFinger)
    let (handle, events) = try await vault.openContext()
    let reading = Task { try await vault.read([ItemName(parsing: "bound")], reason: nil, in: handle) }
    let press = image.press(.leftRing)
    for await event in events {
      if case .touchWanted = event.event { try await press() }
      guard case .fingerPresent(true) = event.event else { continue }
      await vault.respond(handle, .cancel)
      break
    }
    await #expect(throws: (any Error).self) { _ = try await reading.value }
    #expect(try await vault.status().failures == 1)
  }

  @Test("a reader with the same ids and another serial is recognized as another reader, and no item is lost")
  func anotherReader() async throws {
    let image = try await ImageReaderStore()
    do {
      let vault = try image.store.open(reader: image.process)
      _ = try await image.enroll(.rightIndex, in: vault)
      try await vault.put("bound", "secret", .currentSet)
      try await vault.put("any", "secret", .anyFinger)
    }
    let other = try image.store.open(
      reader: InterposedReader(
        real: image.process,
        describing: { description in
          var description = description
          description.identity.serial = "another"
          return description
        }))
    let person = Person(touches: [image.press(.rightIndex)])
    await #expect(throws: VaultError.differentReader(try ItemName(parsing: "bound"))) {
      try await other.get("bound", by: person)
    }
    await #expect(throws: VaultError.notEnrolled) { try await other.get("any", by: person) }
    #expect(try await other.losses(.fingers) == [], "enrolling on the other reader kills nothing of this one")
    await other.shutdown()
    let vault = try image.store.open(reader: image.process)
    #expect(try await vault.get("bound", by: Person(touches: [image.press(.rightIndex)])) == "secret")
  }

  @Test("a damaged template loses its finger, a damaged set its bound items, and the passcode repairs both")
  func damagedEnrolment() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    _ = try await image.enroll(.leftIndex, in: vault)
    try await vault.put("bound", "secret", .currentSet)
    try await vault.put("presence", "secret", .presence)
    let editor = try DatabaseQueue(path: image.store.path + "/vault.db")
    try await editor.write { db in
      try db.execute(sql: "UPDATE enrolment SET template = zeroblob(90) WHERE rowid = 2")
    }
    #expect(try await vault.get("bound", by: Person(touches: [image.press(.rightIndex)])) == "secret")
    #expect(try await vault.integrityProblems().count == 1)
    try await editor.write { db in
      try db.execute(sql: "UPDATE enrolment_set SET record = zeroblob(90)")
    }
    await #expect(throws: VaultError.self) {
      try await vault.get("bound", by: Person(touches: [image.press(.rightIndex)]))
    }
    #expect(try await vault.items(.everything).allSatisfy { $0.state == .living }, "damage is no change of the set")
    #expect(try await vault.get("presence", by: Person(passcodes: [Self.right])) == "secret")
    let change = try await Person(passcodes: [Self.right]).with(vault) { try await vault.unenroll(nil, in: $0) }
    #expect(change.lost.map(\.description) == ["bound"])
    _ = try await image.enroll(.rightIndex, in: vault)
    #expect(try await vault.get("presence", by: Person(touches: [image.press(.rightIndex)])) == "secret")
  }

  @Test("a finger that rests from the last request does not answer the next one, for a second or until it lifts")
  func restingFinger() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("any", "secret", .anyFinger)
    // The note of a last holder that did not see the finger lifted.
    let left = BootClock.system.now()
    try FileLock.brief(image.store.path + "/scan.lock", .exclusive).leave(left)
    let armed = Mutex<UInt64>(0)
    let press = image.press(.rightIndex)
    let person = Person(touches: [
      {
        armed.withLock { $0 = BootClock.system.now() }
        try await press()
      }
    ])
    #expect(try await vault.get("any", by: person) == "secret")
    #expect(armed.withLock { $0 } - left >= FingerLift.assumedAfter)
  }

  @Test("a request that ends without a touch leaves no note of a resting finger, so that the next one need not wait")
  func noFinger() async throws {
    let image = try await ImageReaderStore()
    let vault = try image.store.open(reader: image.process)
    _ = try await image.enroll(.rightIndex, in: vault)
    try await vault.put("any", "secret", .anyFinger)
    let item = try #require(try await vault.items(.everything).first)
    let (handle, events) = try await vault.openContext(ContextOptions())
    let reading = Task { try await vault.secrets(of: [item.id], reason: nil, in: handle) }
    for await event in events {
      guard case .touchWanted = event.event else { continue }
      await vault.closeContext(handle)
    }
    await #expect(throws: VaultError.cancelled) { _ = try await reading.value }
    await vault.shutdown()
    #expect(try FileLock.brief(image.store.path + "/scan.lock", .exclusive).note == 0)
  }
}
