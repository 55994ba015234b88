import Glibc
import Primitives
import SoftwareTPM
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A TPM without room for the counters, with swtpm")
struct TPMRoomTests {
  private static let noRoom = VaultError.tpm(.refused, detail: "it has no room for a counter")

  @Test("a TPM takes a new store, or one from a key file, only if it has room for two counters")
  func full() async throws {
    let machine = try MachineWithTPM()
    var others = try machine.software.fillMemory()
    try #require(others.count >= 2)
    let store = try await ScratchStore()
    let vault = try store.open(storage: machine.storage)
    try await vault.put("free", "5678")

    // The same with room for one counter, and repeatedly: no counter is left behind.
    for _ in 0...1 {
      for _ in 1...2 {
        await #expect(throws: Self.noRoom) { _ = try await ScratchStore(storage: machine.storage) }
        await #expect(throws: Self.noRoom) {
          try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.reseal(in: $0) }
        }
      }
      #expect(try machine.record == nil)
      #expect(try await vault.status().tier == .keyFile)
      let last = others.popLast()
      try machine.software.delete(try #require(last))
    }
    let new = try await ScratchStore(storage: machine.storage)
    #expect(try await new.open(storage: machine.storage).status().restoreDetected == false)
    try await Person(passcodes: [ScratchStore.passcode]).with(vault) { try await vault.reseal(in: $0) }
    await vault.close()
    let again = try store.open(storage: machine.storage)
    #expect(try await again.status().tier == .tpm)
    #expect(try await again.get("free") == "5678")
  }
}
