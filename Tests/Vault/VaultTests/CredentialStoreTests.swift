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

@Suite("A store whose keys are sealed under a systemd credential")
struct CredentialStoreTests {
  private static let right = ScratchStore.passcode

  /// A credential of 32 bytes of this value.
  private static func credential(_ byte: UInt8, ofTPM: Bool = false) throws -> Credential {
    try Credential(SecretBytes(copying: [UInt8](repeating: byte, count: 32).span), isSealedByTPM: ofTPM)
  }

  private static let first = Result { try credential(1) }
  private static let second = Result { try credential(2) }

  /// A machine without a TPM, and with these credentials.
  private static func machine(
    _ credential: Credential?, earlier: Credential? = nil, use: RootStorage.CredentialUse = .withoutTPM
  ) -> RootStorage {
    .withoutTPM(path: "/dev/tpmrm0").with(credential, earlier: earlier, use: use)
  }

  private func makeStore(_ storage: RootStorage) async throws -> ScratchStore {
    let store = try await ScratchStore(storage: storage)
    let vault = try store.open(storage: storage)
    try await vault.put("bank", "1234", .passcode)
    try await vault.put("free", "5678")
    await vault.close()
    return store
  }

  private func reseal(_ vault: Vault, _ person: Person = Person(passcodes: [right])) async throws {
    try await person.with(vault) { try await vault.reseal(in: $0) }
  }

  private func requireAll(_ vault: Vault, _ passcode: String = right) async throws {
    #expect(try await vault.get("bank", by: Person(passcodes: [passcode])) == "1234")
    #expect(try await vault.get("free") == "5678")
  }

  /// Opens the store with a new device slot, and takes the recovery key.
  private func recovered(_ store: ScratchStore, _ storage: RootStorage) async throws -> Vault {
    try StoreCreation.rebuildDeviceKey(
      at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey), floor: .weakForTests, storage: storage)
    let vault = try store.open(storage: storage)
    let restore = try await vault.detectedRestore()
    _ = try await Person(newPasscode: "a new one", recoveryKey: store.recoveryKey).with(vault) {
      try await vault.recover(accepting: restore?.id, in: $0)
    }
    return vault
  }

  @Test("a store sealed under a systemd credential opens with it, has no key file, and reports its tier")
  func opens() async throws {
    let store = try await makeStore(Self.machine(try Self.first.get()))
    #expect(access(store.path + "/device.key", F_OK) != 0)
    let vault = try store.open(storage: Self.machine(try Self.first.get()))
    #expect(try await vault.status().tier == .credential)
    try await requireAll(vault)
    await vault.close()
    let sealed = try store.open(storage: Self.machine(try Self.credential(1, ofTPM: true)))
    #expect(try await sealed.status().tier == .credentialOfTPM)
  }

  @Test("a store sealed under a systemd credential opens neither without a credential nor with another one")
  func elsewhere() async throws {
    let store = try await makeStore(Self.machine(try Self.first.get()))
    #expect(throws: VaultError.credential(.changed, detail: "")) {
      try store.open(storage: Self.machine(try Self.second.get()))
    }
    #expect(throws: VaultError.credential(.absent, detail: "systemd gave the service none")) {
      try store.open(storage: Self.machine(nil))
    }
    #expect(throws: VaultError.credential(.absent, detail: "the settings exclude it")) {
      try store.open(storage: Self.machine(try Self.first.get(), use: .never))
    }
    #expect(throws: VaultError.credential(.absent, detail: "systemd gave the service none")) {
      try store.open(storage: .keyFile)
    }
  }

  @Test("a passcode slot under a systemd credential does not open with the passcode alone or another credential")
  func passcode() async throws {
    let credential = try Self.first.get()
    let store = try await makeStore(Self.machine(credential))
    let database = try StoreDatabase(at: store.path + "/vault.db")
    let (id, slot) = (try database.identity(), try #require(try database.rawSlot(.passcode)))
    let lock = try PasscodeLock(parameters: slot.parameters)
    let stretched = try Scrypt.derive(
      passcode: SecretBytes(text: Self.right), parameters: lock.scrypt, floor: .weakForTests)
    #expect(throws: KeysError.authenticationFailed) {
      let key = try slot.unwrap(under: stretched, databaseID: id)
      _ = key.count
    }
    #expect(throws: KeysError.authenticationFailed) {
      let key = try slot.unwrap(
        under: PasscodeLock.key(stretched, try Self.second.get(), id), databaseID: id)
      _ = key.count
    }
    #expect(throws: VaultError.credential(.changed, detail: "")) {
      let key = try lock.key(of: stretched, id, .credential(try Self.second.get()))
      _ = key.count
    }
    let isOpen = try !slot.unwrap(under: lock.key(of: stretched, id, .credential(credential)), databaseID: id).isEmpty
    #expect(isOpen, "the passcode and the credential open it together")
  }

  @Test("the recovery key restores a store of a lost systemd credential under another credential or in a TPM")
  func lost() async throws {
    let machine = try SoftwareTPM()
    let other = try Self.second.get()
    for (storage, tier): (RootStorage, VaultStatus.Tier) in [
      (Self.machine(other), .credential), (.tpm(machine.tpm).with(nil), .tpm),
    ] {
      let store = try await makeStore(Self.machine(try Self.first.get()))
      #expect(throws: VaultError.self) { try store.open(storage: storage) }
      let vault = try await recovered(store, storage)
      #expect(try await vault.status().tier == tier)
      try await requireAll(vault, "a new one")
      await #expect(throws: VaultError.wrongPasscode) {
        try await vault.get("bank", by: Person(passcodes: [Self.right]))
      }
    }
  }

  @Test("a recovery replaces a missing systemd credential or TPM by a lower tier only if the settings say so")
  func lowerTier() async throws {
    let store = try await makeStore(Self.machine(try Self.first.get()))
    for use in [RootStorage.CredentialUse.withoutTPM, .always] {
      #expect(throws: VaultError.credential(.absent, detail: "systemd gave the service none")) {
        try StoreCreation.rebuildDeviceKey(
          at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey), floor: .weakForTests,
          storage: Self.machine(nil, use: use))
      }
    }
    let vault = try await recovered(store, Self.machine(try Self.first.get(), use: .never))
    #expect(try await vault.status().tier == .keyFile)
    try await requireAll(vault, "a new one")

    let machine = try SoftwareTPM()
    let sealed = try await makeStore(.tpm(machine.tpm))
    machine.powerOff()
    #expect(throws: VaultError.tpm(.absent, detail: "there is no /dev/tpmrm0")) {
      try StoreCreation.rebuildDeviceKey(
        at: sealed.path, recoveryKey: SecretBytes(text: sealed.recoveryKey), floor: .weakForTests,
        storage: Self.machine(try Self.first.get()))
    }
    let chosen = try await recovered(sealed, RootStorage.keyFile.with(try Self.first.get()))
    #expect(try await chosen.status().tier == .credential)
    try await requireAll(chosen, "a new one")
  }

  @Test(
    "the settings choose TPM, systemd credential or key file for a new store, and a required one has to exist")
  func choice() async throws {
    let machine = try SoftwareTPM()
    let credential = try Self.first.get()
    for (storage, tier): (RootStorage, VaultStatus.Tier) in [
      (.tpm(machine.tpm).with(credential), .tpm), (.tpm(machine.tpm).with(credential, use: .always), .credential),
      (Self.machine(credential, use: .never), .keyFile), (Self.machine(nil), .keyFile),
    ] {
      let store = try await ScratchStore(storage: storage)
      #expect(try await store.open(storage: storage).status().tier == tier)
    }
    for storage in [Self.machine(nil, use: .always), .tpm(machine.tpm).with(nil, use: .always)] {
      await #expect(throws: VaultError.credential(.absent, detail: "systemd gave the service none")) {
        _ = try await ScratchStore(storage: storage)
      }
    }
  }

  @Test("resealing with the passcode moves a store from a key file to a systemd credential, to a TPM and back")
  func reseal() async throws {
    let machine = try MachineWithTPM()
    let store = try await makeStore(.keyFile)
    let before = try store.snapshot()
    do {
      let vault = try store.open(storage: Self.machine(try Self.first.get()))
      await #expect(throws: VaultError.wrongPasscode) { try await reseal(vault, Person(passcodes: ["wrong"])) }
      #expect(try await vault.status().tier == .keyFile)
      await #expect(throws: VaultError.invalidRequest("registers need a TPM: the store is sealed by a credential")) {
        try await Person(passcodes: [Self.right]).with(vault) { try await vault.reseal(to: [7], in: $0) }
      }
      try await reseal(vault)
      #expect(try await vault.status().tier == .credential)
      #expect(access(store.path + "/device.key", F_OK) != 0)
      try await requireAll(vault)
      await vault.close()
    }
    // The old key file opens nothing, and is deleted when the store is opened.
    try store.restore(["device.key"], from: before)
    #expect(throws: VaultError.self) { try store.open() }
    for (use, tier): (RootStorage.CredentialUse, VaultStatus.Tier) in [(.withoutTPM, .tpm), (.always, .credential)] {
      let storage = machine.storage.with(try Self.first.get(), use: use)
      let vault = try store.open(storage: storage)
      #expect(access(store.path + "/device.key", F_OK) != 0)
      try await reseal(vault)
      #expect(try await vault.status().tier == tier)
      try await requireAll(vault)
      if tier == .credential {
        // Nothing of it is left to the TPM.
        machine.software.powerOff()
        await #expect(throws: VaultError.wrongPasscode) {
          try await Person(passcodes: ["wrong"]).with(vault) { try await vault.unlock(in: $0) }
        }
        try machine.software.powerOn()
      }
      try await vault.put("free", "5678", replace: true)
      await vault.close()
      let again = try store.open(storage: storage)
      #expect(try await again.status().restoreDetected == false)
      try await requireAll(again)
      await again.close()
    }
    // Changes made outside the TPM do not count as a restore when the store moves to the TPM again.
    let vault = try store.open(storage: machine.storage.with(try Self.first.get()))
    try await reseal(vault)
    await vault.close()
    #expect(try await store.open(storage: machine.storage).status().restoreDetected == false)
  }

  @Test("a store opens with the earlier systemd credential until it is sealed again under the new one")
  func renewal() async throws {
    let (old, new) = (try Self.first.get(), try Self.second.get())
    let store = try await makeStore(Self.machine(old))
    do {
      let vault = try store.open(storage: Self.machine(new, earlier: old))
      try await requireAll(vault)
      // A new passcode stays with the device slot's credential.
      try await Person(passcodes: [Self.right], newPasscode: "another").with(vault) {
        try await vault.changePasscode(in: $0)
      }
      await vault.close()
      let again = try store.open(storage: Self.machine(old))
      try await requireAll(again, "another")
      await again.close()
    }
    let vault = try store.open(storage: Self.machine(new, earlier: old))
    try await reseal(vault, Person(passcodes: ["another"]))
    await vault.close()
    #expect(throws: VaultError.credential(.changed, detail: "")) { try store.open(storage: Self.machine(old)) }
    try await requireAll(try store.open(storage: Self.machine(new)), "another")
  }

  @Test("a sealed copy of a secret from a store under a systemd credential opens with the recovery key only")
  func copies() async throws {
    let storage = Self.machine(try Self.first.get())
    let store = try await makeStore(storage)
    let copy = try await VaultSession(of: try store.open(storage: storage))
      .sealCopy(of: SecretBytes(text: "s3cret"), under: .passcodeAndRecoveryKey, replacing: nil, .nobody)
    #expect(copy.keys == .recoveryKey)
    await #expect(throws: VaultError.passcodeNotSet) {
      _ = try await ScratchStore.open(copy, with: .passcode(SecretBytes(text: Self.right))).text
    }
    #expect(
      try await ScratchStore.open(copy, with: .recoveryKey(SecretBytes(text: store.recoveryKey))).text == "s3cret")
  }

  @Test("a systemd credential for stores has 32 to 1024 bytes", arguments: [0, 31, 1_025])
  func length(_ count: Int) throws {
    #expect(throws: VaultError.configuration("it does not have 32 to 1024 bytes")) {
      _ = try Credential(SecretBytes(count: count), isSealedByTPM: false)
    }
  }
}
