import Keys
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

@Suite("Leaving a circle")
struct LeavingTests {
  private let repository = MemoryRepository()

  @Test("a machine leaves its circle also as the last member, while it asks to join, and after it was removed")
  func leaving() async throws {
    let machines = try await repository.circle("desk", "lap")
    let attic = try await SyncMachine("attic")
    try await attic.ask(repository)
    try await attic.leave()
    #expect(try await attic.status.standing == .none)
    try await machines[0].remove(machines[1])
    for machine in machines { try await machine.sync(repository) }
    #expect(try await machines[1].status.standing == .removed)
    #expect(try await machines[1].session.sync.files(after: nil, puttingBack: true).files.isEmpty)
    try await machines[1].leave()
    #expect(try await machines[1].status.standing == .none)
    try await machines[0].leave()
    #expect(try await machines[0].status.standing == .none)
  }

  @Test("a machine that two others remove at the same time is gone, and both go on sharing")
  func removedTwice() async throws {
    let machines = try await repository.circle("desk", "lap", "attic")
    for machine in machines[...1] { try await machine.remove(machines[2]) }
    for machine in [machines[0], machines[1]] { try await machine.sync(repository) }
    try await machines[1].confirm()
    try await machines[1].set("mail", "gold")
    for machine in [machines[1], machines[0]] {
      try await machine.sync(repository)
      #expect(try await machine.status.members.map(\.name).sorted() == ["desk", "lap"], "\(machine.name)")
    }
    #expect(try await machines[0].get("mail") == "gold")
  }

  @Test("a machine that was removed keeps no key of the circle that it could give away")
  func forgottenKey() async throws {
    let machines = try await repository.circle("desk", "lap")
    #expect(try await machines[1].vault.hasNameKey)
    try await machines[0].remove(machines[1])
    for machine in machines { try await machine.sync(repository) }
    #expect(try await machines[1].status.standing == .removed)
    #expect(try await !machines[1].vault.hasNameKey)
  }

  @Test("a machine that asks to join, or was removed, can replace its recovery key")
  func newRecoveryKey() async throws {
    let machines = try await repository.circle("desk", "lap")
    let attic = try await SyncMachine("attic")
    try await attic.ask(repository)
    try await attic.renewRecoveryKey()
    try await machines[0].remove(machines[1])
    for machine in machines { try await machine.sync(repository) }
    try await machines[1].renewRecoveryKey()
    #expect(try await attic.status.standing == .asking)
    #expect(try await machines[1].status.standing == .removed)
  }

  @Test("a store whose keys for sharing have another length is damaged, and its vault goes on")
  func damaged() async throws {
    let desk = try await repository.circle("desk")[0]
    let keys = try await desk.vault.circle.keys
    for count in [0, 63, 65] {
      try await desk.vault.putCircle(keys, zeros: count)
      await #expect(throws: VaultError.storeDamaged("its record of your computers does not verify"), "\(count)") {
        _ = try await desk.status
      }
    }
  }
}

extension Vault {
  /// Whether the store has the key for the names of records.
  fileprivate var hasNameKey: Bool {
    get throws {
      try presence.passcodes.store.read { snapshot in
        let slot = try #require(try snapshot.slot(.circle))
        let secrets = try slot.unwrap(under: snapshot.store.keys.root, databaseID: snapshot.store.keys.databaseID)
        return secrets.withUnsafeBytes { $0[MemberKeys.byteCount..<MemberKeys.byteCount + 32].contains { $0 != 0 } }
      }
    }
  }

  /// Puts these keys with so many zeros after them beside the record of the circle.
  fileprivate func putCircle(_ keys: MemberKeys, zeros count: Int) throws {
    try presence.passcodes.store.commit { change in
      let slot = try #require(try change.slot(.circle))
      let secrets = SecretBytes(joining: [], keys.bytes, [UInt8](repeating: 0, count: count))
      try change.put(
        Slot(
          .circle, wrapping: secrets, under: change.store.keys.root, databaseID: change.store.keys.databaseID,
          parameters: slot.parameters))
    }
  }
}
