internal import SecretModel

extension VaultCall {
  static let backupCalls = [detectedRestore, acceptRestore, backUp, backupContents, restoreBackup]

  static let detectedRestore = VaultCall("DetectedRestore", gives: "aa{sv}") { (vault, _) async throws(VaultError) in
    let restore = try await vault.service.detectedRestore()
    return [(restore.map { [$0] } ?? []).busValue]
  }
  static let acceptRestore = VaultCall("AcceptRestore", takes: "aya{sv}", gives: "a(ayay)", isChange: true) {
    (vault, call) async throws(VaultError) in
    let lost = try await vault.service.acceptRestore(try DetectedRestore.ID(bus: call[0]), try Asking(bus: call[1]))
    return [lost.busValue]
  }
  static let backUp = VaultCall("BackUp", takes: "h") { (vault, call) async throws(VaultError) in
    try await vault.service.backUp(to: call[0].asFile)
    return []
  }
  static let backupContents = VaultCall("BackupContents", takes: "h", gives: "a{sv}") {
    (vault, call) async throws(VaultError) in
    [try await vault.service.contents(ofBackup: call[0].asFile).busValue]
  }
  static let restoreBackup = VaultCall("RestoreBackup", takes: "haya{sv}", gives: "a(ayay)", isChange: true) {
    (vault, call) async throws(VaultError) in
    let lost = try await vault.service.restore(
      call[0].asFile, accepting: try BackupContents.ID(bus: call[1]), try Asking(bus: call[2]))
    return [lost.busValue]
  }
}
