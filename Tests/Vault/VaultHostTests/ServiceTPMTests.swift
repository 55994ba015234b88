import SecretModel
import SecureMemory
import SoftwareTPM
import Testing
import Vault
import VaultDriver

@Suite("The service with a TPM, with swtpm")
struct ServiceTPMTests {
  @Test("keeps the keys of its stores in the TPM, and seals them again with the recovery key after it was cleared")
  func service() async throws {
    let machine = try SoftwareTPM()
    let service = try RunningService(idleTime: .milliseconds(50), storage: .tpm(machine.tpm))
    let making = try service.connect()
    let draft = try await making.create(.own, passcode: SecretBytes(text: RunningService.passcode))
    let recoveryKey = draft.recoveryKey.text
    try await making.keep(draft.id)
    await making.close()

    let connection = try service.connect()
    let store = try await connection.open(.own)
    #expect(try await store.status().tier == .tpm)
    try await Person(passcodes: [RunningService.passcode]).with(store) { try await store.unlock(Asking(in: $0)) }
    #expect(try await store.status().openClasses.contains(.afterFirstUnlock))
    await connection.close()

    try machine.clear()
    // The vault of the earlier connection stays open for its idle time.
    var failure: VaultError?
    for _ in 1...50 where failure == nil {
      try await Task.sleep(for: .milliseconds(200))
      let attempt = try service.connect()
      do throws(VaultError) { _ = try await attempt.open(.own) } catch { failure = error }
      await attempt.close()
    }
    #expect(failure == .tpm(.changed, detail: ""))
    let back = try service.connect()
    try await back.rebuildDeviceKey(at: .own, recoveryKey: SecretBytes(text: recoveryKey))
    let recovered = try await back.open(.own)
    let person = Person(newPasscode: "a new one", recoveryKey: recoveryKey)
    _ = try await person.with(recovered) { try await recovered.recover(accepting: nil, Asking(in: $0)) }
    #expect(try await recovered.status().tier == .tpm)
    await back.close()
    try await service.end()
  }
}
