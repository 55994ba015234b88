import Glibc
import Keys
import Primitives
import SoftwareTPM
import Synchronization
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("A store whose keys are in a TPM, with swtpm")
struct TPMStoreTests {
  static let right = ScratchStore.passcode

  private func makeStore(_ machine: SoftwareTPM) async throws -> ScratchStore {
    let store = try await ScratchStore(storage: .tpm(machine.tpm))
    let vault = try store.open(storage: .tpm(machine.tpm))
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    try await vault.put("free", "5678")
    await vault.close()
    return store
  }

  /// Recovers with the recovery key, and returns the vault.
  private func recovered(_ store: ScratchStore, _ storage: RootStorage, rebuilding: Bool = true) async throws -> Vault {
    if rebuilding {
      try StoreCreation.rebuildDeviceKey(
        at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey), floor: .weakForTests, storage: storage)
    }
    let vault = try store.open(storage: storage)
    let person = Person(newPasscode: "a new one", recoveryKey: store.recoveryKey)
    _ = try await person.with(vault) { try await vault.recover(in: $0) }
    return vault
  }

  private func requireAll(_ vault: Vault) async throws {
    #expect(try await vault.get("bank", by: Person(passcodes: ["a new one"])) == "1234")
    #expect(try await vault.get("free") == "5678")
    await #expect(throws: VaultError.wrongPasscode) { try await vault.get("bank", by: Person(passcodes: [Self.right])) }
  }

  @Test("a TPM store opens with its TPM, has no key file, and reports its tier")
  func opens() async throws {
    let machine = try SoftwareTPM()
    let store = try await makeStore(machine)
    #expect(access(store.path + "/device.key", F_OK) != 0)
    machine.powerOff()
    #expect {
      _ = try store.open(storage: .tpm(machine.tpm))
    } throws: {
      guard case .tpm(.absent, _) = $0 as? VaultError else { return false }
      return true
    }
    try machine.powerOn()
    let vault = try store.open(storage: .tpm(machine.tpm))
    #expect(try await vault.status().tier == .tpm)
    #expect(try await vault.get("bank", by: Person(passcodes: [Self.right])) == "1234")
  }

  private final class Asked: Sendable {
    let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
  }

  @Test("an unlock of a TPM store waits for its user's turn before it asks the TPM, and then prompts")
  func turn() async throws {
    let machine = try SoftwareTPM()
    let store = try await makeStore(machine)
    let vault = try store.open(storage: .tpm(machine.tpm))
    let turn = try await vault.scrypt.turn(for: store.owner)
    let (handle, events) = try await vault.openContext()
    let isAsked = Asked()
    // Without a TPM an unlock that asks it fails.
    machine.powerOff()
    let unlock = Task { try await vault.unlock(in: handle) }
    let listening = Task {
      for await event in events {
        guard case .secretWanted = event.event else { continue }
        isAsked.value.store(true, ordering: .relaxed)
        await vault.respond(handle, .decline(question: event.number))
        return
      }
    }
    try await Task.sleep(for: .milliseconds(300))
    #expect(!isAsked.isSet)
    try machine.powerOn()
    _ = consume turn
    await #expect(throws: VaultError.interactionNotAllowed) { try await unlock.value }
    await vault.closeContext(handle)
    await listening.value
  }

  @Test("a TPM store opens neither without a TPM nor with that of another machine")
  func elsewhere() async throws {
    let (machine, other) = (try SoftwareTPM(), try SoftwareTPM())
    let store = try await makeStore(machine)
    #expect(throws: VaultError.tpm(.changed, detail: "")) { try store.open(storage: .tpm(other.tpm)) }
    #expect(throws: VaultError.tpm(.absent, detail: "the settings exclude it")) { try store.open(storage: .keyFile) }
    #expect(throws: VaultError.tpm(.absent, detail: "there is no /dev/tpmrm0")) {
      try store.open(storage: .withoutTPM(path: "/dev/tpmrm0"))
    }
  }

  @Test("a new store whose TPM cannot be used gets no key file instead, and leaves nothing behind")
  func noSilentKeyFile() async throws {
    let machine = try SoftwareTPM()
    machine.powerOff()
    let scratch = try await ScratchStore()
    let folder = scratch.folder
    await #expect(throws: VaultError.self) {
      _ = try await StoreCreation.newStore(
        at: folder + "/other", passcode: SecretBytes(text: Self.right), floor: .weakForTests,
        storage: .tpm(machine.tpm))
    }
    #expect(access(folder + "/other", F_OK) != 0)
    withExtendedLifetime(scratch) {}
  }

  @Test("a TPM store's passcode slot opens only with both the passcode and the TPM")
  func offTheMachine() async throws {
    let machine = try SoftwareTPM()
    let store = try await makeStore(machine)
    let database = try StoreDatabase(at: store.path + "/vault.db")
    let (id, slot) = (try database.identity(), try #require(try database.rawSlot(.passcode)))
    let lock = try PasscodeLock(parameters: slot.parameters)
    let stretched = try Scrypt.derive(
      passcode: SecretBytes(text: Self.right), parameters: lock.scrypt, floor: .weakForTests)
    // Fails without the TPM's secret, and with another one.
    #expect(throws: KeysError.authenticationFailed) {
      let key = try slot.unwrap(under: stretched, databaseID: id)
      _ = key.count
    }
    #expect(throws: KeysError.authenticationFailed) {
      let other = try PasscodeLock.key(stretched, SecretBytes(count: 32), id)
      let key = try slot.unwrap(under: other, databaseID: id)
      _ = key.count
    }
    #expect(lock.sealed != nil)
    let isOpen = try !slot.unwrap(under: lock.key(of: stretched, id, .tpm(machine.tpm)), databaseID: id).isEmpty
    #expect(isOpen, "the passcode and the TPM open it together")
  }

  @Test("a TPM store counts wrong passcodes in the TPM, and tries none that could lock the TPM for others")
  func lockout() async throws {
    let machine = try SoftwareTPM()
    try machine.setLockout(limit: 3, seconds: 600)
    let store = try await makeStore(machine)
    let vault = try store.open(storage: .tpm(machine.tpm))
    for attempt in 1...2 {
      await #expect(throws: VaultError.wrongPasscode) {
        try await Person(passcodes: ["wrong \(attempt)"]).with(vault) { try await vault.unlock(in: $0) }
      }
    }
    for passcode in ["wrong", Self.right] {
      await #expect(throws: VaultError.passcodeDelayed(seconds: 600)) {
        try await Person(passcodes: [passcode]).with(vault) { try await vault.unlock(in: $0) }
      }
    }
    let sealed = try #require(try store.passcodeLock().sealed)
    #expect(try machine.tpm.dictionaryLockout(for: sealed).failures == 2)
    #expect(try await vault.passcodeFailures() == 2, "nothing was tried, nothing counts")
    try machine.forgetFailures()
    try await Person(passcodes: [Self.right]).with(vault) { try await vault.unlock(in: $0) }
  }

  @Test("a TPM store seals a changed passcode in the TPM, and keeps the old one if the TPM fails meanwhile")
  func change() async throws {
    let machine = try SoftwareTPM()
    try machine.setLockout(limit: 20)
    let store = try await makeStore(machine)
    let vault = try store.open(storage: .tpm(machine.tpm))
    let before = try store.passcodeLock().sealed
    await #expect(throws: VaultError.self) {
      let person = Person(
        passcodes: [Self.right], newPasscode: "a new one",
        before: { request in if case .newPasscode = request { machine.powerOff() } })
      try await person.with(vault) { try await vault.changePasscode(in: $0) }
    }
    try machine.powerOn()
    #expect(try store.passcodeLock().sealed == before)
    #expect(try await vault.get("bank", by: Person(passcodes: [Self.right])) == "1234")
    try await Person(passcodes: [Self.right], newPasscode: "a new one").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    try await requireAll(vault)
    #expect(try store.passcodeLock().sealed != nil)
  }

  @Test("a TPM store is restored with its recovery key after the TPM was cleared, and with no other key")
  func cleared() async throws {
    let machine = try SoftwareTPM()
    let store = try await makeStore(machine)
    try machine.clear()
    #expect(throws: VaultError.tpm(.changed, detail: "")) { try store.open(storage: .tpm(machine.tpm)) }
    let other = try await ScratchStore().recoveryKey
    #expect(throws: VaultError.wrongRecoveryKey) {
      try StoreCreation.rebuildDeviceKey(
        at: store.path, recoveryKey: SecretBytes(text: other), storage: .tpm(machine.tpm))
    }
    let vault = try await recovered(store, .tpm(machine.tpm))
    #expect(try await vault.status().tier == .tpm)
    try await requireAll(vault)
  }

  @Test("a TPM store is restored with its recovery key on a machine with another TPM")
  func replaced() async throws {
    let store = try await makeStore(try SoftwareTPM())
    let other = try SoftwareTPM()
    let vault = try await recovered(store, .tpm(other.tpm))
    #expect(try await vault.status().tier == .tpm)
    try await requireAll(vault)
  }

  @Test("a TPM store is restored without a TPM only on request, and reports the lower tier")
  func absent() async throws {
    let machine = try SoftwareTPM()
    let store = try await makeStore(machine)
    machine.powerOff()
    #expect(throws: VaultError.tpm(.absent, detail: "there is no /dev/tpmrm0")) {
      try StoreCreation.rebuildDeviceKey(
        at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey), storage: .withoutTPM(path: "/dev/tpmrm0"))
    }
    let vault = try await recovered(store, .keyFile)
    #expect(try await vault.status().tier == .keyFile)
    try await requireAll(vault)
  }

  @Test("a TPM store gets a new passcode with the recovery key while its TPM is locked out")
  func lockedOut() async throws {
    let machine = try SoftwareTPM()
    try machine.setLockout(limit: 2)
    let store = try await makeStore(machine)
    let vault = try store.open(storage: .tpm(machine.tpm))
    await #expect(throws: VaultError.wrongPasscode) {
      try await Person(passcodes: ["wrong"]).with(vault) { try await vault.unlock(in: $0) }
    }
    await #expect(throws: VaultError.passcodeDelayed(seconds: 1_000)) {
      try await vault.get("bank", by: Person(passcodes: [Self.right]))
    }
    await vault.close()
    let again = try await recovered(store, .tpm(machine.tpm), rebuilding: false)
    #expect(try await again.get("free") == "5678")
    try machine.forgetFailures()
    try machine.setLockout(limit: 20)
    try await requireAll(again)
  }

  @Test("a key-file store opens as before beside a TPM, and keeps its tier when its key file is replaced")
  func keyFile() async throws {
    let machine = try SoftwareTPM()
    let store = try await ScratchStore()
    try await store.open(storage: .tpm(machine.tpm)).put("free", "5678")
    unlink(store.path + "/device.key")
    let vault = try await recovered(store, .tpm(machine.tpm))
    #expect(try await vault.status().tier == .keyFile)
    #expect(try await vault.get("free") == "5678")
  }

  @Test("a key-file store moves to the TPM with its passcode, keeps all items, and loses its key file")
  func reseal() async throws {
    let machine = try SoftwareTPM()
    let store = try await ScratchStore()
    let vault = try store.open(storage: .tpm(machine.tpm))
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    try await vault.put("free", "5678")
    let before = try store.snapshot()
    await #expect(throws: VaultError.wrongPasscode) {
      try await Person(passcodes: ["wrong"]).with(vault) { try await vault.reseal(in: $0) }
    }
    #expect(try await vault.status().tier == .keyFile)
    try await Person(passcodes: [Self.right]).with(vault) { try await vault.reseal(in: $0) }
    #expect(try await vault.status().tier == .tpm)
    #expect(access(store.path + "/device.key", F_OK) != 0)
    #expect(try await vault.get("bank", by: Person(passcodes: [Self.right])) == "1234")
    await vault.close()
    // The old key file opens nothing, and is deleted when the store is opened.
    try store.restore(["device.key"], from: before)
    #expect(throws: VaultError.tpm(.absent, detail: "the settings exclude it")) { try store.open() }
    let again = try store.open(storage: .tpm(machine.tpm))
    #expect(access(store.path + "/device.key", F_OK) != 0)
    #expect(try await again.get("bank", by: Person(passcodes: [Self.right])) == "1234")
    #expect(try await again.get("free") == "5678")
    let sealed = try store.passcodeLock().sealed
    #expect(sealed != nil)
    // Resealing in the TPM again replaces all sealed objects.
    try await Person(passcodes: [Self.right]).with(again) { try await again.reseal(in: $0) }
    #expect(try store.passcodeLock().sealed != sealed)
    #expect(try await again.get("bank", by: Person(passcodes: [Self.right])) == "1234")
    try await Person(passcodes: [Self.right], newPasscode: "a new one").with(again) {
      try await again.changePasscode(in: $0)
    }
    try await requireAll(again)
  }

  @Test("a store without a passcode moves to the TPM with its recovery key, and none moves without a TPM")
  func resealWithoutPasscode() async throws {
    let machine = try SoftwareTPM()
    let store = try await ScratchStore(passcode: nil)
    try await store.open().put("free", "5678")
    for storage in [RootStorage.keyFile, .withoutTPM(path: "/dev/tpmrm0")] {
      let without = try store.open(storage: storage)
      await #expect(throws: VaultError.self) {
        try await Person(recoveryKey: store.recoveryKey).with(without) { try await without.reseal(in: $0) }
      }
      #expect(try await without.status().tier == .keyFile)
      await without.close()
    }
    let vault = try store.open(storage: .tpm(machine.tpm))
    try await Person(recoveryKey: store.recoveryKey).with(vault) { try await vault.reseal(in: $0) }
    #expect(try await vault.status().tier == .tpm)
    #expect(try await vault.get("free") == "5678")
    // The first passcode is set under the TPM.
    try await Person(newPasscode: "a new one", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.changePasscode(in: $0)
    }
    #expect(try store.passcodeLock().sealed != nil)
  }

  @Test("sealing a store to TPM registers needs the recovery key, which opens the store after they changed")
  func registers() async throws {
    let machine = try SoftwareTPM()
    let store = try await makeStore(machine)
    let vault = try store.open(storage: .tpm(machine.tpm))
    func reseal(_ registers: [UInt8], _ person: Person) async throws {
      try await person.with(vault) { try await vault.reseal(to: registers, in: $0) }
    }
    await #expect(throws: VaultError.self, "nobody has shown the recovery key") {
      try await reseal([7], Person(passcodes: [Self.right]))
    }
    await #expect(throws: VaultError.malformedRecoveryKey) {
      try await reseal([7], Person(passcodes: [Self.right], recoveryKey: "no key"))
    }
    await #expect(throws: VaultError.self) {
      try await reseal([23], Person(passcodes: [Self.right], recoveryKey: store.recoveryKey))
    }
    #expect(try store.passcodeLock().sealed?.registers.isEmpty == true)
    #expect(try await vault.status().registers.isEmpty)
    try await reseal([7], Person(passcodes: [Self.right], recoveryKey: store.recoveryKey))
    // A new passcode is sealed to them as well.
    try await Person(passcodes: [Self.right], newPasscode: "another").with(vault) {
      try await vault.changePasscode(in: $0)
    }
    #expect(try store.passcodeLock().sealed?.registers.numbers == [7])
    await vault.close()
    let again = try store.open(storage: .tpm(machine.tpm))
    #expect(try await again.get("bank", by: Person(passcodes: ["another"])) == "1234")
    #expect(try await again.status().registers == [7])
    await again.close()
    try machine.extend(register: 7)
    #expect(throws: VaultError.tpm(.registersChanged, detail: "")) { try store.open(storage: .tpm(machine.tpm)) }
    let back = try await recovered(store, .tpm(machine.tpm))
    try await requireAll(back)
    #expect(try store.passcodeLock().sealed?.registers.isEmpty == true, "and to no register any more")
    try machine.extend(register: 7)
    await back.close()
    #expect(try await store.open(storage: .tpm(machine.tpm)).get("free") == "5678")
  }

  @Test("a key-file store stays unchanged if the TPM fails while its keys are sealed")
  func failedReseal() async throws {
    let machine = try SoftwareTPM()
    let store = try await ScratchStore()
    let vault = try store.open(storage: .tpm(machine.tpm))
    try await vault.put("bank", "1234", .passcode, by: Person(passcodes: [Self.right]))
    machine.powerOff()
    await #expect(throws: VaultError.self) {
      try await Person(passcodes: [Self.right]).with(vault) { try await vault.reseal(in: $0) }
    }
    await vault.close()
    let again = try store.open()
    #expect(try await again.status().tier == .keyFile)
    #expect(try await again.get("bank", by: Person(passcodes: [Self.right])) == "1234")
  }

  @Test("a TPM store seals copies of secrets for the recovery key only, since they open without the TPM")
  func copies() async throws {
    let machine = try SoftwareTPM()
    let store = try await makeStore(machine)
    let copy = try await VaultSession(of: try store.open(storage: .tpm(machine.tpm)))
      .sealCopy(of: SecretBytes(text: "s3cret"), under: .passcodeAndRecoveryKey, replacing: nil, .nobody)
    #expect(copy.keys == .recoveryKey)
    await #expect(throws: VaultError.passcodeNotSet) {
      _ = try await ScratchStore.open(copy, with: .passcode(SecretBytes(text: Self.right))).text
    }
    #expect(
      try await ScratchStore.open(copy, with: .recoveryKey(SecretBytes(text: store.recoveryKey))).text == "s3cret")
  }
}

extension ScratchStore {
  /// The parameters of the passcode's slot.
  fileprivate func passcodeLock() throws -> PasscodeLock {
    let slot = try StoreDatabase(at: path + "/vault.db").rawSlot(.passcode)
    return try PasscodeLock(parameters: try #require(slot).parameters)
  }
}

extension PasscodeLock {
  /// What a TPM has sealed; nil in a store without one.
  fileprivate var sealed: SealedObject? {
    if case .tpm(let sealed) = part { sealed } else { nil }
  }
}

extension Vault {
  fileprivate func passcodeFailures() throws -> UInt32 {
    try store.read { snapshot in snapshot.authority.lockout.passcode.failures }
  }
}

extension Vault {
  fileprivate var scrypt: ScryptQueue { presence.passcodes.scrypt }
}
