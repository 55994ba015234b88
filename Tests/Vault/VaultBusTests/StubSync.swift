import Primitives
import SecretModel
import VaultDriver

/// Calls about other machines that run a test's closures.
struct StubSync: SyncService {
  var known = SyncStatus()
  var receipt = SyncReceipt()
  var batch = SyncBatch(files: [], next: nil)
  var called: @Sendable (String) -> Void = { _ in }

  func status() async throws(VaultError) -> SyncStatus { known }
  func begin(_ beginning: SyncBeginning, _: Asking) async throws(VaultError) { called("\(beginning)") }
  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _: Asking
  ) async throws(VaultError) { called("\(machine) \(records) \(recoveryKey.text)") }
  func identity(records: [SyncFile], recoveryKey: consuming SecretBytes) async throws(VaultError) -> SecretBytes {
    SecretBytes(text: "\(records) \(recoveryKey.text)")
  }
  func receive(_ files: [SyncFile], isLast: Bool) async throws(VaultError) -> SyncReceipt {
    called("\(files) \(isLast)")
    return receipt
  }
  func files(after: String?, puttingBack: Bool) async throws(VaultError) -> SyncBatch {
    called("\(after ?? "nil") \(puttingBack)")
    return batch
  }
  func change(_ change: SyncMemberChange, _: Asking) async throws(VaultError) { called("\(change)") }
  func resolve(_ resolution: SyncResolution, _: Asking) async throws(VaultError) { called("\(resolution)") }
  func change(from known: Int) async throws(VaultError) -> Int { known + 1 }
}
