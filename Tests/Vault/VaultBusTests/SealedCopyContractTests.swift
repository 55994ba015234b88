import Presence
import Primitives
import SecretModel
import Testing
import Vault
import VaultBus
import VaultDriver
import VaultItems
import VaultStore

@Suite("Sealed copies, in process and over a socket")
struct SealedCopyContractTests {
  @Test("a sealed copy of a secret is made by a store and opened without a store", arguments: Way.allCases)
  func roundTrip(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let vault = open.vault
    func sealed(
      under keys: SealedCopy.Keys, replacing old: SealedCopy? = nil, _ asking: Asking
    ) async throws -> SealedCopy {
      try await vault.sealCopy(of: SecretBytes(text: "s3cret"), under: keys, replacing: old, asking)
    }
    await #expect(throws: VaultError.interactionNotAllowed) {
      try await sealed(under: .passcodeAndRecoveryKey, .nobody)
    }
    let copy = try await open.asking(answering: OpenScratch.passcode) { asking in
      try await vault.sealCopy(
        of: SecretBytes(text: "s3cret"), under: .passcodeAndRecoveryKey, replacing: nil, asking)
    }
    #expect(try await sealed(under: .passcodeAndRecoveryKey, replacing: copy, .nobody) == copy)
    let other = try way.connect(to: try await ScratchConnection())
    let opened = try await other.openCopy(copy, with: .passcode(SecretBytes(text: ScratchStore.passcode)))
    #expect(opened.text == "s3cret")
    let recoveryKey = open.scratch.store.recoveryKey
    #expect(try await other.openCopy(copy, with: .recoveryKey(SecretBytes(text: recoveryKey))).text == "s3cret")
    await #expect(throws: VaultError.wrongPasscode) {
      _ = try await other.openCopy(copy, with: .passcode(SecretBytes(text: "wrong")))
    }
    await #expect(throws: VaultError.malformedRecoveryKey) {
      _ = try await other.openCopy(copy, with: .recoveryKey(SecretBytes(text: "wrong")))
    }
    let bare = try await sealed(under: .recoveryKey, .nobody)
    #expect(bare.keys == .recoveryKey)
    await #expect(throws: VaultError.passcodeNotSet) {
      _ = try await other.openCopy(bare, with: .passcode(SecretBytes(text: ScratchStore.passcode)))
    }
    await other.close()
    await open.connection.close()
  }
}
