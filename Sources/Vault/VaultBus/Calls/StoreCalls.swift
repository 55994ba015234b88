internal import SecretModel
internal import SecureMemory

extension VaultCall {
  static let storeCalls = [open, create, keep, rebuildDeviceKey, makeStoreOfBackup]

  static let open = VaultCall("Open", takes: "a{sv}") { (vault, call) async throws(VaultError) in
    try await vault.open(try StorePlace(bus: call[0]))
    return []
  }
  // Not marked as a change: a new store that was not kept is removed when its connection ends.
  static let create = VaultCall("Create", takes: "a{sv}ahb", gives: "ayh") { (vault, call) async throws(VaultError) in
    let passcode = try SecretBytes.optional(sealed: call[1], limit: NewItem.secretLimit)
    let draft = try await vault.vaults.create(
      try StorePlace(bus: call[0]), passcode: passcode, allowsGuessable: try Bool(bus: call[2]))
    return [draft.id.busValue, try draft.recoveryKey.sealed()]
  }
  static let keep = VaultCall("Keep", takes: "ay", isChange: true) { (vault, call) async throws(VaultError) in
    try await vault.vaults.keep(try StoreDraft.ID(bus: call[0]))
    return []
  }
  static let rebuildDeviceKey = VaultCall("RebuildDeviceKey", takes: "a{sv}h", isChange: true) {
    (vault, call) async throws(VaultError) in
    let recoveryKey = try SecretBytes(sealed: call[1], limit: NewItem.secretLimit)
    try await vault.vaults.rebuildDeviceKey(at: try StorePlace(bus: call[0]), recoveryKey: recoveryKey)
    return []
  }
  static let makeStoreOfBackup = VaultCall("MakeStoreOfBackup", takes: "a{sv}hh", isChange: true) {
    (vault, call) async throws(VaultError) in
    let recoveryKey = try SecretBytes(sealed: call[2], limit: NewItem.secretLimit)
    try await vault.vaults.makeStore(
      at: try StorePlace(bus: call[0]), ofBackup: call[1].asFile, recoveryKey: recoveryKey)
    return []
  }
}
