internal import SecretModel
internal import SecureMemory

extension VaultCall {
  static let passcodeCalls = [
    unlock, lock, changePasscode, reseal, setFirstUnlock, removePasscode, recover, draftRecoveryKey, keepRecoveryKey,
  ]

  // No change: what it opens ends with the vault, and like every right passcode it clears the counts of wrong ones.
  static let unlock = VaultCall("Unlock", takes: "a{sv}") { (vault, call) async throws(VaultError) in
    try await vault.service.unlock(try Asking(bus: call[0]))
    return []
  }
  static let lock = VaultCall("Lock") { (vault, _) async throws(VaultError) in
    try await vault.service.lock()
    return []
  }
  static let changePasscode = VaultCall("ChangePasscode", takes: "a{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    try await vault.service.changePasscode(try Asking(bus: call[0]))
    return []
  }
  static let reseal = VaultCall("Reseal", takes: "aya{sv}", isChange: true) { (vault, call) async throws(VaultError) in
    try await vault.service.reseal(to: try Octets(bus: call[0]).bytes, try Asking(bus: call[1]))
    return []
  }
  static let setFirstUnlock = VaultCall("SetFirstUnlock", takes: "sa{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    try await vault.service.setFirstUnlock(try FirstUnlock(bus: call[0]), try Asking(bus: call[1]))
    return []
  }
  static let removePasscode = VaultCall("RemovePasscode", takes: "a{sv}", gives: "a(ayay)", isChange: true) {
    (vault, call) async throws(VaultError) in
    [try await vault.service.removePasscode(try Asking(bus: call[0])).busValue]
  }
  static let recover = VaultCall("Recover", takes: "aya{sv}", gives: "a(ayay)", isChange: true) {
    (vault, call) async throws(VaultError) in
    let restore = try DetectedRestore.ID.optional(bus: call[0])
    return [try await vault.service.recover(accepting: restore, try Asking(bus: call[1])).busValue]
  }
  static let draftRecoveryKey = VaultCall("DraftRecoveryKey", gives: "h") { (vault, _) async throws(VaultError) in
    [try await vault.service.draftRecoveryKey().sealed()]
  }
  static let keepRecoveryKey = VaultCall("KeepRecoveryKey", takes: "a{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    try await vault.service.keepRecoveryKey(try Asking(bus: call[0]))
    return []
  }
}
