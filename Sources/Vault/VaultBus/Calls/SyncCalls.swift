internal import Primitives
internal import SDBus
internal import SecretModel

/// The calls about the circle of a store.
extension Calls {
  static let sync = [
    syncStatus.call, beginCircle.call, joinCircle.call, recoverCircle.call, identity.call, receiveFiles.call,
    filesToPublish.call, changeCircle.call, resolve.call, syncChange.call,
  ]

  static let syncStatus = Call("SyncStatus") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.sync.status()
  }
  static let beginCircle = Call("BeginCircle", isChange: true) {
    (vault: isolated Served, machine: String, asking: Asking) async throws(VaultError) in
    try await vault.service.sync.begin(.new(machine: machine), asking)
  }
  static let joinCircle = Call("JoinCircle", isChange: true) {
    (vault: isolated Served, machine: String, records: SyncFilesOnBus, asking: Asking) async throws(VaultError) in
    try await vault.service.sync.begin(.join(machine: machine, records: records.files), asking)
  }
  static let recoverCircle = Call("RecoverCircle", isChange: true) {
    (vault: isolated Served, machine: String, records: SyncFilesOnBus, recoveryKey: BusFile, asking: Asking)
      async throws(VaultError) in
    try await vault.service.sync.recover(
      machine: machine, records: records.files, recoveryKey: try SecretBytes(sealed: recoveryKey), asking)
  }
  static let identity = Call("CircleIdentity") {
    (vault: isolated Served, records: SyncFilesOnBus, recoveryKey: BusFile) async throws(VaultError) in
    try await vault.service.sync.identity(records: records.files, recoveryKey: try SecretBytes(sealed: recoveryKey))
      .sealed()
  }
  static let receiveFiles = Call("ReceiveFiles") {
    (vault: isolated Served, files: SyncFilesOnBus, isLast: Bool) async throws(VaultError) in
    try await vault.service.sync.receive(files.files, isLast: isLast)
  }
  static let filesToPublish = Call("FilesToPublish") {
    (vault: isolated Served, after: Word, puttingBack: Bool) async throws(VaultError) in
    try await vault.service.sync.files(after: after.word.isEmpty ? nil : after.word, puttingBack: puttingBack)
  }
  static let changeCircle = Call("ChangeCircle", isChange: true) {
    (vault: isolated Served, change: SyncMemberChange, asking: Asking) async throws(VaultError) in
    try await vault.service.sync.change(change, asking)
  }
  static let resolve = Call("Resolve", isChange: true) {
    (vault: isolated Served, resolution: SyncResolution, asking: Asking) async throws(VaultError) in
    try await vault.service.sync.resolve(resolution, asking)
  }
  static let syncChange = Call("SyncChange") { (vault: isolated Served, known: Int) async throws(VaultError) in
    try await vault.service.sync.change(from: known)
  }
}

extension RemoteVault {
  var sync: any SyncService { RemoteSync(wire: wire) }
}

/// The calls about the circle, of a vault in another process.
struct RemoteSync: SyncService {
  let wire: VaultWire

  func status() async throws(VaultError) -> SyncStatus { try await wire(Calls.syncStatus) }

  func begin(_ beginning: SyncBeginning, _ asking: Asking) async throws(VaultError) {
    switch beginning {
    case .new(let machine): try await wire(Calls.beginCircle, machine, asking)
    case .join(let machine, let records): try await wire(Calls.joinCircle, machine, SyncFilesOnBus(records), asking)
    }
  }

  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _ asking: Asking
  ) async throws(VaultError) {
    try await wire(Calls.recoverCircle, machine, SyncFilesOnBus(records), try recoveryKey.sealed(), asking)
  }

  func identity(records: [SyncFile], recoveryKey: consuming SecretBytes) async throws(VaultError) -> SecretBytes {
    try await wire.secret(Calls.identity, SyncFilesOnBus(records), try recoveryKey.sealed(), limit: 1_024)
  }

  func receive(_ files: [SyncFile], isLast: Bool) async throws(VaultError) -> SyncReceipt {
    try await wire(Calls.receiveFiles, SyncFilesOnBus(files), isLast)
  }

  func files(after: String?, puttingBack: Bool) async throws(VaultError) -> SyncBatch {
    try await wire(Calls.filesToPublish, Word(after ?? ""), puttingBack)
  }

  func change(_ change: SyncMemberChange, _ asking: Asking) async throws(VaultError) {
    try await wire(Calls.changeCircle, change, asking)
  }

  func resolve(_ resolution: SyncResolution, _ asking: Asking) async throws(VaultError) {
    try await wire(Calls.resolve, resolution, asking)
  }

  func change(from known: Int) async throws(VaultError) -> Int { try await wire(Calls.syncChange, known) }
}
