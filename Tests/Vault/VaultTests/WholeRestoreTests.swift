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

@Suite("Detecting that a whole TPM store was restored, with swtpm")
struct WholeRestoreTests {
  private static let files = ["vault.db", "vault.db-wal", "vault.db-shm", "state"]
  private static let right = ScratchStore.passcode

  private func makeStore(_ machine: MachineWithTPM, _ storage: RootStorage? = nil) async throws -> ScratchStore {
    let store = try await ScratchStore(storage: storage ?? machine.storage)
    let vault = try store.open(storage: storage ?? machine.storage)
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    try await vault.put("free", "5678")
    await vault.close()
    return store
  }

  private func changePasscode(_ store: ScratchStore, _ storage: RootStorage, to new: String) async throws {
    let vault = try store.open(storage: storage)
    try await Person(passcodes: [Self.right], newPasscode: new).with(vault) { try await vault.changePasscode(in: $0) }
    await vault.close()
  }

  private func unlock(_ vault: Vault, _ passcode: String) async throws {
    try await Person(passcodes: [passcode]).with(vault) { try await vault.unlock(in: $0) }
  }

  @Test("normal use and reopening of a TPM store are not taken for a restore")
  func unchanged() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    for round in 1...3 {
      let vault = try store.open(storage: machine.storage)
      #expect(try await vault.status().restoreDetected == false, "round \(round)")
      await #expect(throws: VaultError.wrongPasscode) { try await unlock(vault, "wrong") }
      try await unlock(vault, Self.right)
      try await vault.put("another", "\(round)", replace: true)
      try await vault.chargeTouch()
      await vault.close()
    }
    #expect(try await store.open(storage: machine.storage).status().failures == 1)
  }

  @Test("a TPM store restored without the machine's record needs the recovery key and a new passcode")
  func wholeStore() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    let copy = try store.snapshot()
    try await changePasscode(store, machine.storage, to: "a new one")
    try store.restore(Self.files, from: copy)
    let vault = try store.open(storage: machine.storage)
    #expect(try await vault.status().restore == .recoveryKeyAndNewPasscode)
    await #expect(throws: VaultError.recoveryKeyRequired) {
      try await vault.acceptRestore(by: Person(passcodes: [Self.right]))
    }
    let restore = try #require(try await vault.detectedRestore())
    #expect(restore.items.count == 2)
    _ = try await Person(newPasscode: "a third", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.recover(accepting: restore.id, in: $0)
    }
    #expect(try await vault.status().restoreDetected == false)
    await vault.close()
    let again = try store.open(storage: machine.storage)
    #expect(try await again.status().restoreDetected == false)
    #expect(try await again.get("bank", by: Person(passcodes: ["a third"])) == "1234")
  }

  @Test("a TPM store that is restored with a removed finger opens nothing with it, also after the restore is accepted")
  func removedFinger() async throws {
    let machine = try MachineWithTPM()
    let store = try await ScratchStore(storage: machine.storage)
    // Every finger matches.
    let reader = ScriptedReader()
    let vault = try store.open(reader: reader, storage: machine.storage)
    for finger in [Finger.rightIndex, .leftIndex] {
      _ = try await Person(passcodes: [Self.right]).with(vault) { try await vault.enroll(finger, in: $0) }
    }
    try await vault.put("bound", "1", .currentSet)
    try await vault.put("any", "2", .anyFinger)
    await vault.close()
    let copy = try store.snapshot()
    let later = try store.open(reader: reader, storage: machine.storage)
    _ = try await Person(passcodes: [Self.right]).with(later) { try await later.unenroll(.leftIndex, in: $0) }
    #expect(try await later.get("any") == "2")
    await later.close()
    try store.restore(Self.files, from: copy)
    let restored = try store.open(reader: reader, storage: machine.storage)
    for name in ["bound", "any"] {
      await #expect(throws: VaultError.restoreDetected) { try await restored.get(name) }
    }
    let lost = try await restored.acceptRestore(by: Person(passcodes: [Self.right]))
    #expect(lost.map(\.description) == ["bound"])
    #expect(try await restored.status().sets.allSatisfy { $0.fingers.isEmpty })
    await #expect(throws: VaultError.notEnrolled) { try await restored.get("any") }
  }

  @Test("a TPM store's copy with another history and more commits needs the recovery key and a new passcode")
  func otherWay() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    let early = try store.snapshot()
    let vault = try store.open(storage: machine.storage)
    for number in 1...20 { try await vault.put("another", "\(number)", replace: true) }
    await vault.close()
    let late = try store.snapshot()
    // Only items differ, which is not detected.
    try store.restore(Self.files, from: early)
    try await changePasscode(store, machine.storage, to: "a new one")
    try store.restore(Self.files, from: late)
    let again = try store.open(storage: machine.storage)
    #expect(try await again.status().restore == .recoveryKeyAndNewPasscode)
    await #expect(throws: VaultError.restoreDetected) {
      try await again.get("bank", by: Person(passcodes: [Self.right]))
    }
  }

  @Test("TPM stores restored with the machine's record each wait until their own passcode accepts them")
  func wholeFolder() async throws {
    let machine = try MachineWithTPM()
    let storage = machine.storage
    let stores = [try await makeStore(machine, storage), try await makeStore(machine, storage)]
    let copies = try stores.map { try $0.snapshot() }
    try machine.keepRecord()
    let vault = try stores[0].open(storage: storage)
    await #expect(throws: VaultError.wrongPasscode) { try await unlock(vault, "wrong") }
    await vault.close()
    for (store, copy) in zip(stores, copies) { try store.restore(Self.files, from: copy) }
    try machine.putRecordBack()
    let restarted = machine.storage
    for store in stores {
      let vault = try store.open(storage: restarted)
      #expect(try await vault.status().restore == .passcode)
      #expect(try await vault.status().lockedOut, "nobody knows how many touches failed since")
      await #expect(throws: VaultError.restoreDetected) {
        try await vault.get("bank", by: Person(passcodes: [Self.right]))
      }
      await #expect(throws: VaultError.wrongPasscode) {
        try await vault.acceptRestore(by: Person(passcodes: ["wrong"]))
      }
      await vault.close()
    }
    // The detection outlasts a start of the service, and one user's passcode does not accept the restore for another.
    let later = machine.storage
    let first = try stores[0].open(storage: later)
    try await first.acceptRestore(by: Person(passcodes: [Self.right]))
    #expect(try await first.get("bank", by: Person(passcodes: [Self.right])) == "1234")
    await first.close()
    #expect(try await stores[0].open(storage: machine.storage).status().restoreDetected == false)
    #expect(try await stores[1].open(storage: machine.storage).status().restoreDetected)
  }

  @Test("a TPM store counts as restored without an intact machine record", arguments: [nil, 0, 40, 400, -1] as [Int?])
  func lostRecord(at place: Int?) async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    if let place {
      var bytes = try ScratchStore.contents(of: machine.file)
      bytes[place < 0 ? bytes.count + place : place] ^= 1
      let descriptor = open(machine.file, O_WRONLY | O_TRUNC)
      #expect(write(descriptor, bytes, bytes.count) == bytes.count)
      close(descriptor)
    } else {
      unlink(machine.file)
    }
    let vault = try store.open(storage: machine.storage)
    #expect(try await vault.status().restoreDetected)
    try await vault.acceptRestore(by: Person(passcodes: [Self.right]))
    await vault.close()
    #expect(try await store.open(storage: machine.storage).status().restoreDetected == false)
  }

  @Test("a TPM store counts as restored after a TPM counter was deleted", arguments: MachineRecord.Number.allCases)
  func lostCounter(_ number: MachineRecord.Number) async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    try machine.software.delete(try #require(try machine.record)[number].counter)
    let vault = try store.open(storage: machine.storage)
    #expect(try await vault.status().restoreDetected)
    try await vault.acceptRestore(by: Person(passcodes: [Self.right]))
    try await changePasscode(store, machine.storage, to: "a new one")
    await vault.close()
    #expect(try await store.open(storage: machine.storage).status().restoreDetected == false)
  }

  @Test("a TPM store refuses passcodes and changes while its TPM does not answer, and works afterwards")
  func failingTPM() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    let vault = try store.open(storage: machine.storage)
    try await vault.put("another", "1")
    machine.software.powerOff()
    await #expect(throws: VaultError.self) { try await vault.chargePasscode() }
    await #expect(throws: VaultError.self) { try await vault.put("another", "2", replace: true) }
    try machine.software.powerOn()
    try await vault.chargePasscode()
    try await vault.put("another", "3", replace: true)
    await vault.close()
    let restarted = try store.open(storage: machine.storage)
    #expect(try await restarted.status().restoreDetected == false)
    #expect(try await restarted.passcodeFailures() == 2)
  }

  @Test("a kill between a TPM store's commit, the machine's record and the counter is not taken for a restore")
  func crashes() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    try machine.keepRecord()
    do {
      // The commit was made, but not recorded.
      let vault = try store.open(storage: .tpm(machine.software.tpm))
      await #expect(throws: VaultError.wrongPasscode) { try await unlock(vault, "wrong") }
      await vault.close()
    }
    let vault = try store.open(storage: machine.storage)
    #expect(try await vault.status().restoreDetected == false)
    #expect(try await vault.passcodeFailures() == 1)
    machine.software.powerOff()
    _ = try? await vault.chargePasscode()
    await vault.close()
    try machine.software.powerOn()
    let again = try store.open(storage: machine.storage)
    #expect(try await again.status().restoreDetected == false)
    #expect(try await again.passcodeFailures() == 2)
    await again.close()
    try machine.putRecordBack()
    #expect(try await store.open(storage: machine.storage).status().restoreDetected, "the counter has moved")
  }

  @Test("a power loss is not taken for a restore of a TPM store, but locks fingers out until the passcode")
  func powerLoss() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    let copy = try store.snapshot()
    try machine.keepRecord()
    do {
      let vault = try store.open(storage: machine.storage)
      for _ in 1...3 { try await vault.chargeTouch() }
      await vault.close()
    }
    machine.software.powerOff()
    try machine.software.powerOn()
    try store.restore(Self.files, from: copy)
    try machine.putRecordBack()
    for _ in 1...2 {
      let vault = try store.open(storage: machine.storage)
      #expect(try await vault.status().restoreDetected == false)
      #expect(try await vault.status().lockedOut)
      await vault.close()
    }
    let vault = try store.open(storage: machine.storage)
    try await unlock(vault, Self.right)
    #expect(try await !vault.status().lockedOut)
    await vault.close()
    #expect(try await !store.open(storage: machine.storage).status().lockedOut)
  }

  @Test("an earlier touch count of a TPM store is taken for a restore after an orderly shutdown")
  func orderlyShutdown() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    let copy = try store.snapshot()
    try machine.keepRecord()
    do {
      let vault = try store.open(storage: machine.storage)
      for _ in 1...3 { try await vault.chargeTouch() }
      await vault.close()
    }
    try machine.software.shutDown()
    try machine.software.powerOn()
    #expect(try await store.open(storage: machine.storage).status().failures == 3)
    try store.restore(Self.files, from: copy)
    try machine.putRecordBack()
    #expect(try await store.open(storage: machine.storage).status().restoreDetected)
  }

  @Test("storing an item or matching a touch does not advance the counter of changes in the TPM")
  func wear() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    let vault = try store.open(storage: machine.storage)
    let before = try #require(try machine.record)
    for round in 1...3 {
      try await vault.put("another", "\(round)", replace: true)
      try await vault.matchTouch()
    }
    let after = try #require(try machine.record)
    #expect(after[.changes].value == before[.changes].value)
    #expect(after[.touches].value == before[.touches].value + 3)
    try await unlock(vault, Self.right)
    #expect(try #require(try machine.record)[.changes].value > before[.changes].value)
  }

  @Test("a key-file store's restore is detected from its move to the TPM on")
  func reseal() async throws {
    let machine = try MachineWithTPM()
    let store = try await ScratchStore()
    let vault = try store.open(storage: machine.storage)
    try await vault.put("free", "5678")
    try await Person(passcodes: [Self.right]).with(vault) { try await vault.reseal(in: $0) }
    await vault.close()
    let copy = try store.snapshot()
    let again = try store.open(storage: machine.storage)
    #expect(try await again.status().restoreDetected == false)
    await #expect(throws: VaultError.wrongPasscode) { try await unlock(again, "wrong") }
    await again.close()
    try store.restore(Self.files, from: copy)
    #expect(try await store.open(storage: machine.storage).status().restoreDetected)
  }

  /// The last of the writes of a move to the TPM that reached the disk.
  enum LastWrite: CaseIterable {
    case record, database, manifest
  }

  @Test(
    "an interrupted move of a store to the TPM leaves the old tier or the new one, and is no restore",
    arguments: LastWrite.allCases)
  func cutOffReseal(after last: LastWrite) async throws {
    let machine = try MachineWithTPM()
    let store = try await ScratchStore()
    let vault = try store.open(storage: machine.storage)
    try await vault.put("bank", "1234", .passcode)
    let before = try store.snapshot()
    try await Person(passcodes: [Self.right]).with(vault) { try await vault.reseal(in: $0) }
    await vault.close()
    // The key file is deleted last.
    try store.restore(last == .record ? Self.files + ["device.key"] : ["device.key"], from: before)
    if last == .database { try store.tearLastManifest() }
    for tier in [last == .record ? VaultStatus.Tier.keyFile : .tpm, .tpm] {
      let vault = try store.open(storage: machine.storage)
      #expect(try await vault.status().tier == tier)
      #expect(try await vault.status().restoreDetected == false)
      #expect(try await vault.get("bank", by: Person(passcodes: [Self.right])) == "1234")
      try await Person(passcodes: [Self.right]).with(vault) { try await vault.reseal(in: $0) }
      await vault.close()
    }
  }

  @Test("a TPM store counts as restored after its TPM was cleared, and the recovery key accepts it")
  func cleared() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(machine)
    try machine.software.clear()
    let storage = machine.storage
    try StoreCreation.rebuildDeviceKey(
      at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey), floor: .weakForTests, storage: storage)
    let vault = try store.open(storage: storage)
    let restore = try #require(try await vault.detectedRestore())
    #expect(restore.items.count == 2)
    _ = try await Person(newPasscode: "a new one", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.recover(accepting: restore.id, in: $0)
    }
    await vault.close()
    let again = try store.open(storage: machine.storage)
    #expect(try await again.status().restoreDetected == false)
    #expect(try await again.get("bank", by: Person(passcodes: ["a new one"])) == "1234")
  }
}

extension Vault {
  /// Charges a touch without a refund, like one that did not match.
  fileprivate func chargeTouch() throws {
    try store.commit(charge: true) { change in change.authority.lockout.failures += 1 }
  }

  /// Charges a touch, which then matches.
  fileprivate func matchTouch() throws {
    try store.commit(charge: true) { change in try change.authority.lockout.arm([1]) }
    try store.commit { change in change.authority.lockout.matched() }
  }

  fileprivate func chargePasscode() throws {
    try store.commit(charge: true) { change in try change.charge(.passcode) }
  }

  fileprivate func passcodeFailures() throws -> UInt32 {
    try store.read { snapshot in snapshot.authority.lockout.passcode.failures }
  }
}
