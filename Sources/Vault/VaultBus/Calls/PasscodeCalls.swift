internal import Primitives
internal import SDBus
internal import SecretModel

/// Calls about the passcode, the recovery key and what opens the items.
extension Calls {
  static let passcode = [
    unlock.call, lock.call, changePasscode.call, reseal.call, setFirstUnlock.call, removePasscode.call, recover.call,
    draftRecoveryKey.call, keepRecoveryKey.call,
  ]

  // No change: what it opens ends with the vault, and like every right passcode it clears the counts of wrong ones.
  static let unlock = Call("Unlock") { (vault: isolated Served, asking: Asking) async throws(VaultError) in
    try await vault.service.unlock(asking)
  }
  static let lock = Call("Lock") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.lock()
  }
  static let changePasscode = Call("ChangePasscode", isChange: true) {
    (vault: isolated Served, asking: Asking) async throws(VaultError) in
    try await vault.service.changePasscode(asking)
  }
  static let reseal = Call("Reseal", isChange: true) {
    (vault: isolated Served, registers: [UInt8], asking: Asking) async throws(VaultError) in
    try await vault.service.reseal(to: registers, asking)
  }
  static let setFirstUnlock = Call("SetFirstUnlock", isChange: true) {
    (vault: isolated Served, rule: FirstUnlock, asking: Asking) async throws(VaultError) in
    try await vault.service.setFirstUnlock(rule, asking)
  }
  static let removePasscode = Call("RemovePasscode", isChange: true) {
    (vault: isolated Served, asking: Asking) async throws(VaultError) in
    try await vault.service.removePasscode(asking)
  }
  static let recover = Call("Recover", isChange: true) {
    (vault: isolated Served, restore: [UInt8], asking: Asking) async throws(VaultError) in
    try await vault.service.recover(accepting: DetectedRestore.ID(unlessEmpty: restore), asking)
  }
  static let draftRecoveryKey = Call("DraftRecoveryKey") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.draftRecoveryKey().sealed()
  }
  static let keepRecoveryKey = Call("KeepRecoveryKey", isChange: true) {
    (vault: isolated Served, asking: Asking) async throws(VaultError) in
    try await vault.service.keepRecoveryKey(asking)
  }
}

extension RemoteVault {
  func unlock(_ asking: Asking) async throws(VaultError) { try await wire(Calls.unlock, asking) }

  func lock() async throws(VaultError) { try await wire(Calls.lock) }

  func changePasscode(_ asking: Asking) async throws(VaultError) { try await wire(Calls.changePasscode, asking) }

  func reseal(to registers: [UInt8], _ asking: Asking) async throws(VaultError) {
    try await wire(Calls.reseal, registers, asking)
  }

  func setFirstUnlock(_ rule: FirstUnlock, _ asking: Asking) async throws(VaultError) {
    try await wire(Calls.setFirstUnlock, rule, asking)
  }

  func removePasscode(_ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await wire(Calls.removePasscode, asking)
  }

  func recover(accepting restore: DetectedRestore.ID?, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await wire(Calls.recover, restore?.bytes ?? [], asking)
  }

  func draftRecoveryKey() async throws(VaultError) -> SecretBytes { try await wire.secret(Calls.draftRecoveryKey) }

  func keepRecoveryKey(_ asking: Asking) async throws(VaultError) { try await wire(Calls.keepRecoveryKey, asking) }
}

// MARK: Restores and backups

extension Calls {
  static let backups = [
    detectedRestore.call, acceptRestore.call, backUp.call, backupContents.call, restoreBackup.call,
  ]

  static let detectedRestore = Call("DetectedRestore") { (vault: isolated Served) async throws(VaultError) in
    let restore = try await vault.service.detectedRestore()
    return restore.map { [$0] } ?? []
  }
  static let acceptRestore = Call("AcceptRestore", isChange: true) {
    (vault: isolated Served, id: DetectedRestore.ID, asking: Asking) async throws(VaultError) in
    try await vault.service.acceptRestore(id, asking)
  }
  static let backUp = Call("BackUp") { (vault: isolated Served, file: BusFile) async throws(VaultError) in
    try await vault.service.backUp(to: file.rawValue)
  }
  static let backupContents = Call("BackupContents") {
    (vault: isolated Served, file: BusFile) async throws(VaultError) in
    try await vault.service.contents(ofBackup: file.rawValue)
  }
  static let restoreBackup = Call("RestoreBackup", isChange: true) {
    (vault: isolated Served, file: BusFile, id: BackupContents.ID, asking: Asking) async throws(VaultError) in
    try await vault.service.restore(file.rawValue, accepting: id, asking)
  }
}

extension RemoteVault {
  func detectedRestore() async throws(VaultError) -> DetectedRestore? {
    try await wire(Calls.detectedRestore).first
  }

  func acceptRestore(_ id: DetectedRestore.ID, _ asking: Asking) async throws(VaultError) -> [ItemName] {
    try await wire(Calls.acceptRestore, id, asking)
  }

  func backUp(to file: Int32) async throws(VaultError) { try await wire(Calls.backUp, try BusFile(copying: file)) }

  func contents(ofBackup file: Int32) async throws(VaultError) -> BackupContents {
    try await wire(Calls.backupContents, try BusFile(copying: file))
  }

  func restore(
    _ file: Int32, accepting id: BackupContents.ID, _ asking: Asking
  ) async throws(VaultError) -> [ItemName] {
    try await wire(Calls.restoreBackup, try BusFile(copying: file), id, asking)
  }
}
