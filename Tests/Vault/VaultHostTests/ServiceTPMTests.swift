import Glibc
import Presence
import Primitives
import SecretModel
import SoftwareTPM
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore

@Suite("The service with a TPM, with swtpm")
struct ServiceTPMTests {
  @Test("the service keeps its stores' keys in the TPM, and the recovery key seals them again after a TPM clear")
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

  @Test("vault processes that share a TPM take turns at the machine's record, and no store counts as restored")
  func processes() async throws {
    let machine = try SoftwareTPM()
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    func service(_ number: UInt32) throws -> RunningService {
      try RunningService(
        storage: .tpm(machine.tpm, RollbackGuard(in: folder, machine.tpm)), locks: folder,
        callers: { Caller(user: geteuid() + number, process: $0.process) })
    }
    let services = try [service(0), service(1), service(2)]
    for service in services { try await service.makeStore() }
    var stores: [any VaultService] = []
    for service in services { stores.append(try await service.connect().open(.own)) }
    // The record has each try of a passcode. They come one after another: swtpm has no resource manager, with which the
    // kernel lets many processes load keys at once.
    for _ in 0..<4 {
      for store in stores { try await Self.unlock(store) }
    }
    for store in stores { #expect(try await store.status().restoreDetected == false) }
    // A process that starts now finds the record as the last one has left it.
    let last = RollbackGuard(in: folder, machine.tpm)
    try last.prepare()
    for store in stores { try await Self.unlock(store) }
    for store in stores { #expect(try await store.status().restoreDetected == false) }
    for service in services { try await service.end() }
  }

  private static func unlock(_ store: any VaultService) async throws {
    try await Person(passcodes: [RunningService.passcode]).with(store) { try await store.unlock(Asking(in: $0)) }
  }

  @Test("the service notices with a TPM that a user's complete store was restored, and the user can accept that")
  func putBack() async throws {
    let machine = try SoftwareTPM()
    let folder = try RunningService.makeFolder()
    defer { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }
    let service = try RunningService(
      idleTime: .milliseconds(50), storage: .tpm(machine.tpm, RollbackGuard(in: folder, machine.tpm)))
    try await service.makeStore()
    let place = "\(service.stores)/\(geteuid())-user\(geteuid())"

    func opened<Value: Sendable>(_ body: (any VaultService) async throws -> Value) async throws -> Value {
      let connection = try service.connect()
      let value = try await body(try await connection.open(.own))
      await connection.close()
      // A vault that is closed has no log.
      for _ in 1...200 where access(place + "/vault.db-wal", F_OK) == 0 { try await Task.sleep(for: .milliseconds(50)) }
      return value
    }
    func unlock() async throws {
      try await opened { store in
        try await Person(passcodes: [RunningService.passcode]).with(store) { try await store.unlock(Asking(in: $0)) }
      }
    }

    try await unlock()
    try ScratchStore.run("/bin/cp", ["-a", place, folder + "/copy"])
    try await unlock()
    #expect(try await opened { try await $0.status().restoreDetected } == false)
    try ScratchStore.run("/bin/rm", ["-r", place])
    try ScratchStore.run("/bin/cp", ["-a", folder + "/copy", place])
    await #expect(throws: VaultError.restoreDetected) { try await unlock() }
    try await opened { store in
      let restore = try #require(try await store.detectedRestore())
      _ = try await Person(passcodes: [RunningService.passcode]).with(store) {
        try await store.acceptRestore(restore.id, Asking(in: $0))
      }
    }
    try await unlock()
    try await service.end()
  }
}
