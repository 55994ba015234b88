internal import SDBus
internal import SecretModel
internal import SecureMemory

/// The calls about the circle of a store.
enum SyncCalls {
  static let all = [
    status, beginCircle, joinCircle, recoverCircle, identity, receiveFiles, filesToPublish, changeCircle, resolve,
    change,
  ]

  static let status = VaultCall("SyncStatus", gives: "a{sv}") { (vault, _) async throws(VaultError) in
    [try await vault.service.sync.status().busValue]
  }
  static let beginCircle = VaultCall("BeginCircle", takes: "aya{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    try await vault.service.sync.begin(.new(machine: try String(bus: call[0])), try Asking(bus: call[1]))
    return []
  }
  static let joinCircle = VaultCall("JoinCircle", takes: "aya(sxx)ha{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    let records = try SyncFilesOnBus(bus: call[1], call[2]).files
    try await vault.service.sync.begin(
      .join(machine: try String(bus: call[0]), records: records), try Asking(bus: call[3]))
    return []
  }
  static let recoverCircle = VaultCall("RecoverCircle", takes: "aya(sxx)hha{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    let records = try SyncFilesOnBus(bus: call[1], call[2]).files
    try await vault.service.sync.recover(
      machine: try String(bus: call[0]), records: records,
      recoveryKey: try SecretBytes(sealed: call[3], limit: NewItem.secretLimit), try Asking(bus: call[4]))
    return []
  }
  static let identity = VaultCall("CircleIdentity", takes: "a(sxx)hh", gives: "h") {
    (vault, call) async throws(VaultError) in
    let identity = try await vault.service.sync.identity(
      records: try SyncFilesOnBus(bus: call[0], call[1]).files,
      recoveryKey: try SecretBytes(sealed: call[2], limit: NewItem.secretLimit))
    return [try identity.sealed()]
  }
  static let receiveFiles = VaultCall("ReceiveFiles", takes: "a(sxx)hb", gives: "a{sv}") {
    (vault, call) async throws(VaultError) in
    let files = try SyncFilesOnBus(bus: call[0], call[1]).files
    return [try await vault.service.sync.receive(files, isLast: try Bool(bus: call[2])).busValue]
  }
  static let filesToPublish = VaultCall("FilesToPublish", takes: "sb", gives: "a(sxx)hs") {
    (vault, call) async throws(VaultError) in
    let after = try Word(bus: call[0]).word
    let batch = try await vault.service.sync.files(
      after: after.isEmpty ? nil : after, puttingBack: try Bool(bus: call[1]))
    try call.unread.take(forSecrets: batch.files.reduce(0) { $0 + ($1.contents?.count ?? 0) })
    return try SyncFilesOnBus(batch.files).busValues + [.string(batch.next ?? "")]
  }
  static let changeCircle = VaultCall("ChangeCircle", takes: "sssa{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    try await vault.service.sync.change(
      try SyncMemberChange(bus: call[0], call[1], call[2]), try Asking(bus: call[3]))
    return []
  }
  static let resolve = VaultCall("Resolve", takes: "ss(ayay)a{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    try await vault.service.sync.resolve(
      try SyncResolution(bus: call[0], call[1], call[2]), try Asking(bus: call[3]))
    return []
  }
  static let change = VaultCall("SyncChange", takes: "x", gives: "x") { (vault, call) async throws(VaultError) in
    [try await vault.service.sync.change(from: try Int(bus: call[0])).busValue]
  }
}
