internal import SDBus
internal import SecretModel
internal import SecureMemory

/// The calls about the circle, of a vault in another process.
struct RemoteSync: SyncService {
  let wire: VaultWire

  func status() async throws(VaultError) -> SyncStatus { try await wire.make(SyncCalls.status) }

  func begin(_ beginning: SyncBeginning, _ asking: Asking) async throws(VaultError) {
    switch beginning {
    case .new(let machine):
      _ = try await wire.call(SyncCalls.beginCircle, [machine.busValue, asking.busValue], in: asking.context)
    case .join(let machine, let records):
      let files = try SyncFilesOnBus(records).busValues
      _ = try await wire.call(SyncCalls.joinCircle, [machine.busValue] + files + [asking.busValue], in: asking.context)
    }
  }

  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _ asking: Asking
  ) async throws(VaultError) {
    let (files, key) = (try SyncFilesOnBus(records).busValues, try recoveryKey.sealed())
    _ = try await wire.call(
      SyncCalls.recoverCircle, [machine.busValue] + files + [key, asking.busValue], in: asking.context)
  }

  func identity(records: [SyncFile], recoveryKey: consuming SecretBytes) async throws(VaultError) -> SecretBytes {
    try await wire.secret(
      SyncCalls.identity, try SyncFilesOnBus(records).busValues + [try recoveryKey.sealed()], limit: 1_024)
  }

  func receive(_ files: [SyncFile], isLast: Bool) async throws(VaultError) -> SyncReceipt {
    try await wire.make(SyncCalls.receiveFiles, try SyncFilesOnBus(files).busValues + [isLast.busValue])
  }

  func files(after: String?, puttingBack: Bool) async throws(VaultError) -> SyncBatch {
    let values = try await wire.call(SyncCalls.filesToPublish, [.string(after ?? ""), puttingBack.busValue])
    return try wire.reading(SyncCalls.filesToPublish) { () throws(VaultError) in
      let next = try Word(bus: values[2]).word
      return SyncBatch(files: try SyncFilesOnBus(bus: values[0], values[1]).files, next: next.isEmpty ? nil : next)
    }
  }

  func change(_ change: SyncMemberChange, _ asking: Asking) async throws(VaultError) {
    _ = try await wire.call(SyncCalls.changeCircle, change.busValues + [asking.busValue], in: asking.context)
  }

  func resolve(_ resolution: SyncResolution, _ asking: Asking) async throws(VaultError) {
    _ = try await wire.call(SyncCalls.resolve, resolution.busValues + [asking.busValue], in: asking.context)
  }

  func change(from known: Int) async throws(VaultError) -> Int {
    try await wire.make(SyncCalls.change, [known.busValue])
  }
}
