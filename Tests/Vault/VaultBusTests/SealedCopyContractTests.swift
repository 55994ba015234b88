import SecretModel
import SecureMemory
import Testing
import Vault
import VaultBus
import VaultDriver

@Suite("Sealed copies, in process and over a socket")
struct SealedCopyContractTests {
  @Test("are sealed by a store and opened without one", arguments: Way.allCases)
  func roundTrip(_ way: Way) async throws {
    let open = try await OpenScratch(way)
    let copy = try await open.vault.sealCopy(of: SecretBytes(text: "s3cret"), under: .passcodeAndRecoveryKey)
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
    let bare = try await open.vault.sealCopy(of: SecretBytes(text: "x"), under: .recoveryKey)
    #expect(bare.keys == .recoveryKey)
    await #expect(throws: VaultError.passcodeNotSet) {
      _ = try await other.openCopy(bare, with: .passcode(SecretBytes(text: ScratchStore.passcode)))
    }
    await other.close()
    await open.connection.close()
  }
}
