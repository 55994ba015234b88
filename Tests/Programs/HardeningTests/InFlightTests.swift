import Presence
import Primitives
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger

/// The set or the reader changes at each step of a running read.
@Suite("Changes during a read")
struct InFlightTests {
  private static let right = ScratchStore.passcode
  private static let gates = [AccessControl.Constraint.anyFinger, .currentSet]

  /// Runs an action once, at one step of the next read.
  private final class Ambush: Sendable {
    private let plan = Mutex<(step: InterposedReader.Step, act: @Sendable () async -> Void)?>(nil)

    func lay(at step: InterposedReader.Step, _ act: @escaping @Sendable () async -> Void) {
      plan.withLock { $0 = (step, act) }
    }

    func spring(_ step: InterposedReader.Step) async {
      let act = plan.withLock { plan -> (@Sendable () async -> Void)? in
        guard let planned = plan, planned.step == step else { return nil }
        plan = nil
        return planned.act
      }
      await act?()
    }

    var isSprung: Bool { plan.withLock { $0 == nil } }
  }

  private static func enroll(_ finger: Finger, in vault: Vault) async throws {
    _ = try await Person(passcodes: [right]).with(vault) { try await vault.enroll(finger, in: $0) }
  }

  @Test("a finger removed during a read makes the read fail, except for an any-finger item before the set is read")
  func removed() async throws {
    let store = try await ScratchStore()
    let ambush = Ambush()
    let vault = try store.open(reader: InterposedReader(real: ScriptedReader(), at: { await ambush.spring($0) }))
    let other = try store.open(reader: ScriptedReader())
    try await Self.enroll(.rightIndex, in: vault)
    for step in InterposedReader.Step.allCases {
      for gate in Self.gates {
        try await Self.enroll(.leftIndex, in: other)
        try await vault.put("item", "secret", gate, replace: true)
        ambush.lay(at: step) {
          let person = Person(passcodes: [Self.right])
          _ = try? await person.with(other) { try await other.unenroll(.leftIndex, in: $0) }
        }
        let released = try? await vault.get("item")
        #expect(ambush.isSprung, "\(gate), removed at \(step)")
        // The set is read after the reader was opened.
        let before = step == .listing || step == .opening
        #expect((released != nil) == (before && gate == .anyFinger), "\(gate), removed at \(step)")
        #expect(try await other.status().sets[0].fingers.map(\.finger) == [.rightIndex], "\(gate), removed at \(step)")
      }
    }
  }

  @Test("an enrolment that begins during a read waits for the end of the read")
  func enrolled() async throws {
    let store = try await ScratchStore()
    let ambush = Ambush()
    let vault = try store.open(reader: InterposedReader(real: ScriptedReader(), at: { await ambush.spring($0) }))
    let other = try store.open(reader: ScriptedReader())
    try await Self.enroll(.rightIndex, in: vault)
    for step in InterposedReader.Step.allCases {
      try await vault.put("bound", "secret", .currentSet, replace: true)
      let enrolment = Mutex<Task<Void, any Error>?>(nil)
      ambush.lay(at: step) {
        enrolment.withLock { $0 = Task { try await Self.enroll(.leftIndex, in: other) } }
        try? await Task.sleep(for: .milliseconds(30))
      }
      #expect(try await vault.get("bound") == "secret", "enrolled at \(step)")
      try await #require(enrolment.withLock { $0 }).value
      await #expect(throws: VaultError.itemInvalidated(try ItemName(parsing: "bound")), "enrolled at \(step)") {
        try await vault.get("bound")
      }
    }
  }

  @Test("a read is refused on a reader with other ids or another serial, also if swapped in at the last moment")
  func otherReader() async throws {
    let store = try await ScratchStore()
    let ambush = Ambush()
    let identity = Mutex<ReaderIdentity?>(nil)
    let reader = InterposedReader(
      real: ScriptedReader(),
      describing: { description in
        var description = description
        description.identity = identity.withLock { $0 } ?? description.identity
        return description
      }, at: { await ambush.spring($0) })
    let vault = try store.open(reader: reader)
    try await Self.enroll(.rightIndex, in: vault)
    for gate in Self.gates { try await vault.put("\(gate)", "secret", gate) }
    let others = [
      ReaderIdentity(driver: "scripted", vendor: 0x1234, product: 0x5678, serial: "2"),
      ReaderIdentity(driver: "scripted", vendor: 0x1234, product: 0x5678),
      ReaderIdentity(driver: "scripted", vendor: 0x1234, product: 0x5678, serial: "1", fixedPort: "1-1"),
      ReaderIdentity(driver: "scripted", vendor: 0x1234, product: 0x5679, serial: "1"),
      ReaderIdentity(driver: "another", vendor: 0x1234, product: 0x5678, serial: "1"),
    ]
    for other in others {
      for gate in Self.gates {
        let refusal =
          gate == .currentSet ? VaultError.differentReader(try ItemName(parsing: "\(gate)")) : .notEnrolled
        identity.withLock { $0 = other }
        await #expect(throws: refusal, "\(other)") { try await vault.get("\(gate)") }
        identity.withLock { $0 = nil }
        ambush.lay(at: .opening) { identity.withLock { $0 = other } }
        // The reader that was found and locked is gone.
        await #expect(throws: VaultError.reader(.removed), "\(other), at the last moment") {
          try await vault.get("\(gate)")
        }
        identity.withLock { $0 = nil }
        #expect(try await vault.get("\(gate)") == "secret", "nothing was lost to \(other)")
      }
      #expect(try await vault.status().failures == 0)
    }
  }

  @Test("an item bound to one reader's fingers is refused on another reader that also has fingers")
  func boundElsewhere() async throws {
    let store = try await ScratchStore()
    let first = try store.open(reader: ScriptedReader(serial: "1"))
    try await Self.enroll(.rightIndex, in: first)
    try await first.put("bound", "secret", .currentSet)
    let second = try store.open(reader: ScriptedReader(serial: "2"))
    try await Self.enroll(.rightIndex, in: second)
    await #expect(throws: VaultError.differentReader(try ItemName(parsing: "bound"))) { try await second.get("bound") }
    #expect(try await second.status().failures == 0)
    #expect(try await first.get("bound") == "secret")
  }
}
