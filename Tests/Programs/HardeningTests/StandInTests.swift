import Presence
import Primitives
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

/// An attacker who can write the configuration can name their own fprintd, with their own finger.
@Suite("An fprintd that a configuration names instead of the machine's own")
struct StandInTests {
  private static let refusal = VaultError.fingersNotAccepted(.virtual)

  private func finger(_ byte: UInt8) -> FprintdPrint {
    FprintdPrint(finger: .rightIndex, digest: [UInt8](repeating: byte, count: 32))
  }

  private func open(_ store: ScratchStore, _ byte: UInt8, _ nature: ReaderDescription.Nature) throws -> Vault {
    try store.open(reader: ScriptedReader(fprintd: [finger(byte)], nature: nature))
  }

  /// Reads an item by a touch alone.
  private func read(_ item: ItemID, _ vault: Vault) async throws -> String {
    try await Person().with(vault) { try await vault.secrets(of: [item], reason: nil, in: $0)[0].text }
  }

  @Test("fingers of an fprintd from the configuration open nothing in a store that never had a finger")
  func firstReader() async throws {
    let store = try await ScratchStore()
    let vault = try open(store, 2, .virtual)
    let presence = try await vault.add("presence", .userPresence)
    let refused = Person()
    await #expect(throws: VaultError.self) {
      _ = try await refused.with(vault) { try await vault.secrets(of: [presence], reason: nil, in: $0) }
    }
    let unavailable = refused.events.compactMap { if case .fingerUnavailable(let error) = $0 { error } else { nil } }
    #expect(unavailable == [Self.refusal])
    await #expect(throws: Self.refusal) { _ = try await vault.add("any", .biometryAny) }
    await #expect(throws: Self.refusal) { _ = try await vault.add("bound", .biometryCurrentSet) }
    #expect(try await vault.status().sets.isEmpty, "nothing of it is kept")
  }

  @Test("an fprintd from the configuration opens nothing, even if used before the machine's own fprintd")
  func plantedFirst() async throws {
    let store = try await ScratchStore()
    let planted = try open(store, 2, .virtual)
    let presence = try await planted.add("presence", .userPresence)
    await #expect(throws: VaultError.self) { _ = try await read(presence, planted) }
    let real = try open(store, 1, .physical)
    let item = try await real.add("any", .biometryAny)
    #expect(try await read(item, real) == "any")
    let again = try open(store, 2, .virtual)
    for item in [item, presence] {
      await #expect(throws: VaultError.self) { _ = try await read(item, again) }
    }
  }

  @Test("fingers of an fprintd from the configuration are refused in a store with those of the machine's own fprintd")
  func notTakenOver() async throws {
    let store = try await ScratchStore()
    let real = try open(store, 1, .physical)
    let item = try await real.add("any", .biometryAny)
    #expect(try await read(item, real) == "any")
    let standIn = try open(store, 2, .virtual)
    await #expect(throws: Self.refusal) { _ = try await read(item, standIn) }
    #expect(try await read(item, try open(store, 1, .physical)) == "any")
  }

  @Test("a passcode accepts the current fingers of a configured fprintd, and changed ones open and destroy no item")
  func accepted() async throws {
    let store = try await ScratchStore()
    let passcode = Person(passcodes: [ScratchStore.passcode, ScratchStore.passcode])
    let first = try open(store, 2, .virtual)
    await #expect(throws: VaultError.self) { try await Person().with(first) { try await first.use(.fprintd, in: $0) } }
    try await passcode.with(first) { try await first.use(.fprintd, in: $0) }
    let bound = try await first.add("bound", .biometryCurrentSet)
    #expect(try await read(bound, first) == "bound")

    let changed = try open(store, 3, .virtual)
    for _ in 1...3 { await #expect(throws: Self.refusal) { _ = try await read(bound, changed) } }
    #expect(try await read(bound, try open(store, 2, .virtual)) == "bound", "as it was accepted")

    try await passcode.with(changed) { try await changed.use(.fprintd, in: $0) }
    await #expect(throws: VaultError.self) { _ = try await read(bound, changed) }
    let any = try await changed.add("any", .biometryAny)
    #expect(try await read(any, changed) == "any")
  }

  @Test("the recovery key accepts the fingers of a configured fprintd in a store without a passcode")
  func recoveryKey() async throws {
    let store = try await ScratchStore(passcode: nil)
    let vault = try open(store, 2, .virtual)
    await #expect(throws: Self.refusal) { _ = try await vault.add("any", .biometryAny) }
    try await Person(recoveryKey: store.recoveryKey).with(vault) { try await vault.use(.fprintd, in: $0) }
    let any = try await vault.add("any", .biometryAny)
    #expect(try await read(any, vault) == "any")
  }
}
