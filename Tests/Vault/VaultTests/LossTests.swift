import Glibc
import Keys
import Primitives
import SoftwareTPM
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

/// Tests `whorl recover` after each loss that leaves only the recovery key. Uses swtpm.
@Suite("The recovery key restores a store with a TPM")
struct LossTests {
  enum Loss: CaseIterable {
    case clearedTPM, replacedTPM, lockedTPM, absentTPM, changedRegister, touchCounter, changeCounter, record, state,
      passcode
  }

  private static let right = ScratchStore.passcode

  @Test("the recovery key restores a store with a TPM after each kind of loss", arguments: Loss.allCases)
  func recovery(after loss: Loss) async throws {
    let (service, other) = (try MachineWithTPM(), try MachineWithTPM())
    let store = try await ScratchStore(storage: service.storage)
    do {
      let vault = try store.open(storage: service.storage)
      try await vault.put("bank", "1234", .passcode)
      try await vault.put("free", "5678")
      if loss == .changedRegister {
        let person = Person(passcodes: [Self.right], recoveryKey: store.recoveryKey)
        try await person.with(vault) { try await vault.reseal(to: [7], in: $0) }
      }
      await vault.close()
    }
    let storage = try suffer(loss, service, replacedBy: other, store)
    let vault = try open(store, storage)
    let restore = try await vault.detectedRestore()
    let shown: Set<Loss> = [.clearedTPM, .replacedTPM, .touchCounter, .changeCounter, .record, .state]
    #expect((restore != nil) == shown.contains(loss))
    if let restore { #expect(restore.items.count == 2) }
    if loss == .lockedTPM { try service.software.setLockout(limit: 30) }
    _ = try await Person(newPasscode: "a new one", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.recover(accepting: restore?.id, in: $0)
    }
    await vault.close()
    let again = try store.open(storage: storage)
    #expect(try await again.status().tier == (loss == .absentTPM ? .keyFile : .tpm))
    #expect(try await again.status().restoreDetected == false)
    #expect(try await again.get("bank", by: Person(passcodes: ["a new one"])) == "1234")
    #expect(try await again.get("free") == "5678")
    await #expect(throws: VaultError.wrongPasscode) { try await again.get("bank", by: Person(passcodes: [Self.right])) }
  }

  /// Simulates the loss, and returns the service's storage for keys after it.
  private func suffer(
    _ loss: Loss, _ service: MachineWithTPM, replacedBy other: MachineWithTPM, _ store: ScratchStore
  ) throws -> RootStorage {
    let machine = service.software
    func delete(_ number: MachineRecord.Number) throws {
      try machine.delete(try #require(try service.record)[number].counter)
    }
    switch loss {
    case .clearedTPM: try machine.clear()
    case .replacedTPM: return .tpm(other.software.tpm, RollbackGuard(in: service.folder, other.software.tpm))
    case .lockedTPM: try machine.setLockout(limit: 1)
    case .absentTPM:
      machine.powerOff()
      return .keyFile
    case .changedRegister: try machine.extend(register: 7)
    case .touchCounter: try delete(.touches)
    case .changeCounter: try delete(.changes)
    case .record: unlink(service.file)
    case .state: unlink(store.path + "/state")
    case .passcode: break
    }
    return service.storage
  }

  /// Opens the store; makes a new device slot if it does not open.
  private func open(_ store: ScratchStore, _ storage: RootStorage) throws -> Vault {
    do {
      return try store.open(storage: storage)
    } catch VaultError.tpm {
      try StoreCreation.rebuildDeviceKey(
        at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey), floor: .weakForTests, storage: storage)
      return try store.open(storage: storage)
    }
  }
}
