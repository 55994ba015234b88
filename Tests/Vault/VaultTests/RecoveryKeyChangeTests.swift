import Keys
import Primitives
import SecretModel
import SoftwareTPM
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Replacing the recovery key")
struct RecoveryKeyChangeTests {
  private static let right = ScratchStore.passcode

  private func newKey() throws -> String { try RecoveryKey.generate().text().text }

  private func replace(_ vault: Vault, by key: String, as person: Person = Person(passcodes: [right])) async throws {
    try await person.with(vault) { try await vault.replaceRecoveryKey(by: key, in: $0) }
  }

  /// The parameters of the passcode's slot.
  private func passcodeSlot(of store: ScratchStore) throws -> [UInt8] {
    let slot = try StoreDatabase(at: store.path + "/vault.db").rawSlot(.passcode)
    return try #require(slot).parameters
  }

  private func recover(_ vault: Vault, with key: String, to passcode: String) async throws {
    try await Person(newPasscode: passcode, recoveryKey: key).with(vault) { _ = try await vault.recover(in: $0) }
  }

  @Test("a new recovery key opens the store with all items under the passcode, and the old key opens nothing")
  func replaced() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1234", .passcode)
    let key = try newKey()
    try await replace(vault, by: key)
    try await vault.put("later", "5678", .passcode)
    #expect(try await vault.get("bank", by: Person(passcodes: [Self.right])) == "1234", "the passcode stays")
    await #expect(throws: VaultError.wrongRecoveryKey) {
      try await recover(vault, with: store.recoveryKey, to: "another")
    }
    await vault.close()
    #expect(throws: VaultError.wrongRecoveryKey) {
      try StoreCreation.rebuildDeviceKey(
        at: store.path, recoveryKey: SecretBytes(text: store.recoveryKey), floor: .weakForTests)
    }
    try StoreCreation.rebuildDeviceKey(at: store.path, recoveryKey: SecretBytes(text: key), floor: .weakForTests)
    let again = try store.open()
    try await recover(again, with: key, to: "another")
    for (name, secret) in [("bank", "1234"), ("later", "5678")] {
      #expect(try await again.get(name, by: Person(passcodes: ["another"])) == secret)
    }
  }

  @Test("a new recovery key needs the right passcode; after a wrong passcode the old key stays valid")
  func refused() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let key = try newKey()
    await #expect(throws: VaultError.wrongPasscode) {
      try await replace(vault, by: key, as: Person(passcodes: ["wrong", "wronger", "wrongest"]))
    }
    await #expect(throws: VaultError.wrongPasscode) { try await replace(vault, by: key, as: Person(passcodes: ["no"])) }
    await #expect(throws: VaultError.malformedRecoveryKey) { try await replace(vault, by: "no key") }
    await #expect(throws: VaultError.wrongRecoveryKey) { try await recover(vault, with: key, to: "another") }
    try await recover(vault, with: store.recoveryKey, to: "another")
  }

  @Test("replacing the recovery key needs the old key if no passcode is set")
  func withoutPasscode() async throws {
    let store = try await ScratchStore(passcode: nil)
    let vault = try store.open()
    let key = try newKey()
    await #expect(throws: VaultError.wrongRecoveryKey) {
      try await replace(vault, by: key, as: Person(recoveryKey: key))
    }
    try await replace(vault, by: key, as: Person(recoveryKey: store.recoveryKey))
    await #expect(throws: VaultError.wrongRecoveryKey) {
      try await recover(vault, with: store.recoveryKey, to: "another")
    }
    try await recover(vault, with: key, to: "another")
  }

  @Test("a first passcode and a new recovery key each fail if the other is set meanwhile")
  func meanwhile() async throws {
    let store = try await ScratchStore(passcode: nil)
    let vault = try store.open()
    let (key, other) = (try newKey(), try newKey())
    // It is replaced while the first passcode is asked for.
    await #expect(throws: VaultError.busy("the recovery key was replaced meanwhile")) {
      let person = Person(
        newPasscode: "the passcode", recoveryKey: store.recoveryKey,
        before: { request in
          guard case .newPasscode = request else { return }
          try await replace(vault, by: key, as: Person(recoveryKey: store.recoveryKey))
        })
      try await person.with(vault) { try await vault.changePasscode(in: $0) }
    }
    // A passcode is set while the recovery key is asked for.
    let person = Person(
      recoveryKey: key,
      before: { _ in
        try await Person(newPasscode: "the passcode", recoveryKey: key).with(vault) {
          try await vault.changePasscode(in: $0)
        }
      })
    await #expect(throws: VaultError.busy("a passcode was set meanwhile")) {
      try await replace(vault, by: other, as: person)
    }
    try await vault.put("bank", "1234", .passcode)
    try await recover(vault, with: key, to: "another")
    #expect(try await vault.get("bank", by: Person(passcodes: ["another"])) == "1234")
  }

  @Test("a replaced recovery key opens no passcode key, and the key that it once opened seals nothing new")
  func oldCopy() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    try await vault.put("bank", "1234", .passcode)
    let old = try SharedSecret(RecoveryKey.slotKey(of: SecretBytes(text: store.recoveryKey)))
    func passcodeKey() async throws -> SharedSecret? { try await vault.passcodeKey(byRecovery: old) }
    let before = try #require(try await passcodeKey())
    try await replace(vault, by: newKey())
    await #expect(throws: VaultError.self, "the slot is sealed for the new key") { _ = try await passcodeKey() }
    let isCurrent = try await vault.isPasscodeKey(before)
    #expect(!isCurrent, "the key that the old recovery key has opened seals nothing any more")
  }

  @Test("a new recovery key of a TPM store seals the passcode in the TPM again, and recovers the store without it")
  func inTPM() async throws {
    let machine = try SoftwareTPM()
    let store = try await ScratchStore(storage: .tpm(machine.tpm))
    let vault = try store.open(storage: .tpm(machine.tpm))
    try await vault.put("bank", "1234", .passcode)
    let key = try newKey()
    let before = try passcodeSlot(of: store)
    try await replace(vault, by: key)
    #expect(try await vault.get("bank", by: Person(passcodes: [Self.right])) == "1234")
    let after = try passcodeSlot(of: store)
    #expect(after != before)
    #expect(try !PasscodeLock(parameters: after).needsPasscodeAlone, "only the TPM can try passcodes")
    await vault.close()
    try machine.clear()
    try StoreCreation.rebuildDeviceKey(
      at: store.path, recoveryKey: SecretBytes(text: key), floor: .weakForTests, storage: .tpm(machine.tpm))
    let again = try store.open(storage: .tpm(machine.tpm))
    try await recover(again, with: key, to: "another")
    #expect(try await again.get("bank", by: Person(passcodes: ["another"])) == "1234")
  }

  @Test("a session can keep the last recovery key that it made itself, and no other")
  func session() async throws {
    let store = try await ScratchStore()
    let vault = try store.open()
    let (session, other) = (VaultSession(of: vault), VaultSession(of: vault))
    let person = Person(passcodes: [Self.right, Self.right])
    let dropped = try await session.draftRecoveryKey().text
    let kept = try await session.draftRecoveryKey().text
    await #expect(throws: VaultError.invalidRequest("no new recovery key was made")) {
      try await person.with(other) { try await other.keepRecoveryKey(Asking(in: $0)) }
    }
    try await person.with(session) { try await session.keepRecoveryKey(Asking(in: $0)) }
    await #expect(throws: VaultError.invalidRequest("no new recovery key was made")) {
      try await person.with(session) { try await session.keepRecoveryKey(Asking(in: $0)) }
    }
    await #expect(throws: VaultError.wrongRecoveryKey) { try await recover(vault, with: dropped, to: "another") }
    try await recover(vault, with: kept, to: "another")
  }

  @Test("a new recovery key is valid once it is written to the database, even if the manifest's write is lost")
  func cutOff() async throws {
    let store = try await ScratchStore()
    let key = try newKey()
    do {
      let vault = try store.open()
      try await replace(vault, by: key)
      await vault.close()
    }
    try store.tearLastManifest()
    let vault = try store.open()
    #expect(try await vault.status().restoreDetected == false)
    try await recover(vault, with: key, to: "another")
  }
}

extension Vault {
  /// The passcode key that a recovery key opens.
  fileprivate func passcodeKey(byRecovery key: SharedSecret) throws -> SharedSecret? {
    try store.read { snapshot in
      if let opened = try snapshot.passcodeKey(byRecovery: key.bytes) { SharedSecret(opened) } else { nil }
    }
  }

  /// Whether items are sealed for this passcode key.
  fileprivate func isPasscodeKey(_ key: SharedSecret) throws -> Bool {
    try store.read { snapshot in
      try snapshot.passcodePublicKey() == DerivedPair.passcode.publicKey(of: key.bytes, store.keys.databaseID)
    }
  }
}
