import Primitives
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A hostile or endless reader", .timeLimit(.minutes(2)))
struct ReaderLimitTests {
  private static let right = ScratchStore.passcode
  private static let unreadable = VaultError.reader(.device("it could not read 10 touches"))

  private let store: ScratchStore
  private let reader = ScriptedReader()

  init() async throws { store = try await ScratchStore() }

  private func enroll(_ finger: Finger, in vault: Vault) async throws {
    _ = try await Person(passcodes: [Self.right]).with(vault) { try await vault.enroll(finger, in: $0) }
  }

  private func spoil(_ count: Int) { for _ in 0..<count { reader.next(.retry) } }

  @Test("a request ends at its tenth unreadable touch, without a failure, and may go on with the passcode")
  func unreadableTouches() async throws {
    let vault = try store.open(reader: reader)
    try await enroll(.rightIndex, in: vault)
    try await vault.put("finger", "secret", .anyFinger)
    try await vault.put("presence", "opened", .presence)
    spoil(9)
    #expect(try await vault.get("finger") == "secret")
    spoil(10)
    await #expect(throws: Self.unreadable) { try await vault.get("finger") }
    #expect(try await vault.status().failures == 0)
    spoil(10)
    #expect(try await vault.get("presence", by: Person(passcodes: [Self.right])) == "opened")
    #expect(try await vault.get("finger") == "secret")
  }

  @Test("an enrolment ends at its tenth unreadable touch, and changes no finger")
  func unreadableConfirmation() async throws {
    let vault = try store.open(reader: reader)
    try await enroll(.rightIndex, in: vault)
    let before = try await vault.status().sets.map(\.digest)
    spoil(10)
    await #expect(throws: Self.unreadable) { try await enroll(.leftIndex, in: vault) }
    #expect(try await vault.status().sets.map(\.digest) == before)
    spoil(9)
    try await enroll(.leftIndex, in: vault)
  }

  @Test("a request times out also while a reader reports endless events, which put its timeout off for a limited time")
  func endlessEvents() async {
    let context = Context(askingNobodyFor: 1000)
    context.options.timeout = .milliseconds(100)
    let activity = Activity(countingFor: .milliseconds(50))
    do {
      try await context.outcome(of: .finger, activity: activity) { () async throws -> Void in
        while !Task.isCancelled {
          activity.note()
          try? await Task.sleep(for: .milliseconds(5))
        }
        throw ReaderError.cancelled
      }
      Issue.record("the request ended without an error")
    } catch {
      #expect(error == .timedOut)
    }
  }

  @Test("a reader that differs from the listed one when it is opened is not used")
  func anotherReader() async throws {
    let vault = try store.open(reader: reader)
    try await enroll(.rightIndex, in: vault)
    try await vault.put("finger", "secret", .anyFinger)
    for change in [Change.serial, .nature] {
      let calls = Mutex(0)
      let liar = InterposedReader(
        real: reader,
        describing: { description in
          var other = description
          switch change {
          case .serial: other.identity.serial = "another"
          case .nature: other.nature = .virtual
          }
          // It is listed first, and then opened.
          return calls.withLock { calls -> Int in
            calls += 1
            return calls
          } == 1 ? description : other
        })
      let lied = try store.open(reader: liar)
      await #expect(throws: VaultError.reader(.removed)) { try await lied.get("finger") }
      #expect(try await lied.status().failures == 0)
    }
    #expect(try await vault.get("finger") == "secret")
  }

  private enum Change { case serial, nature }

  @Test("a reader that lists one finger of fprintd twice creates no set of fingers")
  func fingerTwice() async throws {
    let prints = [1, 2].map { FprintdPrint(finger: .rightIndex, digest: Array(repeating: $0, count: 32)) }
    let vault = try store.open(reader: ScriptedReader(fprintd: prints, nature: .physical))
    #expect(try await vault.biometry().problem == .reader(.badTemplate))
    #expect(try await vault.status().sets.isEmpty)
    let one = try store.open(reader: ScriptedReader(fprintd: [prints[0]], nature: .physical))
    #expect(try await one.biometry().problem == nil)
  }

  @Test("fingers of a restored store log nobody in before the restore is accepted")
  func restoredFingers() async throws {
    let vault = try store.open(reader: reader)
    try await enroll(.rightIndex, in: vault)
    func letIn(_ vault: Vault) async throws {
      let session = VaultSession(of: vault)
      try await Person().with(session) { try await session.verifyForLogin(Asking(in: $0)) }
    }
    try await letIn(vault)
    await vault.close()
    let copy = try store.snapshot()
    let later = try store.open(reader: reader)
    for count in 0..<3 { try await later.put("more", "\(count)", replace: true) }
    await later.close()
    try store.restore(["vault.db", "vault.db-wal", "vault.db-shm"], from: copy)
    let restored = try store.open(reader: reader)
    #expect(try await restored.status().restoreDetected)
    await #expect(throws: VaultError.restoreDetected) { try await letIn(restored) }
    #expect(try await restored.status().failures == 0)
  }
}
