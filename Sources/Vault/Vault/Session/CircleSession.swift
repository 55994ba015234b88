import Presence
import Primitives
import SecretModel
import VaultItems
import VaultStore
import VaultSync

/// The calls about the circle, for one client.
struct CircleSession: SyncService {
  let calls: LoggedCalls

  private var vault: Vault { calls.vault }

  func status() async throws(VaultError) -> SyncStatus { try await Self.status(vault) }

  func begin(_ beginning: SyncBeginning, _ asking: Asking) async throws(VaultError) {
    try await calls.logged(.joinCircle, asking) { () throws(VaultError) in
      try await Self.begin(vault, beginning, calls.request(asking))
    }
  }

  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _ asking: Asking
  ) async throws(VaultError) {
    let recoveryKey = SharedSecret(recoveryKey)
    try await calls.logged(.joinCircle, asking) { () throws(VaultError) in
      try await Self.recover(vault, machine, records, recoveryKey, calls.request(asking))
    }
  }

  func identity(records: [SyncFile], recoveryKey: consuming SecretBytes) async throws(VaultError) -> SecretBytes {
    try Circle.Rescue(CircleRecord.chain(records), recoveryKey: recoveryKey).key.identity
  }

  func receive(_ files: [SyncFile], isLast: Bool) async throws(VaultError) -> SyncReceipt {
    try await Self.receive(vault, files, isLast)
  }

  func files(after: String?, puttingBack: Bool) async throws(VaultError) -> SyncBatch {
    try await Self.files(vault, after, puttingBack)
  }

  func change(_ change: SyncMemberChange, _ asking: Asking) async throws(VaultError) {
    try await calls.logged(.changeCircle, asking) { () throws(VaultError) in
      try await Self.change(vault, change, calls.request(asking))
    }
  }

  func resolve(_ resolution: SyncResolution, _ asking: Asking) async throws(VaultError) {
    try await calls.logged(.resolve, asking) { () throws(VaultError) in
      try await Self.resolve(vault, resolution, calls.request(asking))
    }
  }

  func change(from known: Int) async throws(VaultError) -> Int { try await Self.change(vault, from: known) }

  // MARK: On the vault's executor

  private static func status(_ vault: isolated Vault) throws(VaultError) -> SyncStatus {
    try made(vault).items.status()
  }

  private static func begin(
    _ vault: isolated Vault, _ beginning: SyncBeginning, _ request: Request
  ) async throws(VaultError) {
    try await made(vault).begin(beginning, request)
  }

  private static func recover(
    _ vault: isolated Vault, _ machine: String, _ records: [SyncFile], _ key: SharedSecret, _ request: Request
  ) async throws(VaultError) {
    try await made(vault).recover(machine: machine, records: records, recoveryKey: key.copy(), request)
  }

  private static func receive(
    _ vault: isolated Vault, _ files: [SyncFile], _ isLast: Bool
  ) async throws(VaultError) -> SyncReceipt {
    await vault.sessionLock.follow()
    return try made(vault).items.receive(files, isLast: isLast)
  }

  private static func files(
    _ vault: isolated Vault, _ after: String?, _ puttingBack: Bool
  ) async throws(VaultError) -> SyncBatch {
    await vault.sessionLock.follow()
    return try made(vault).items.files(after: after, puttingBack: puttingBack)
  }

  private static func change(
    _ vault: isolated Vault, _ change: SyncMemberChange, _ request: Request
  ) async throws(VaultError) {
    try await made(vault).change(change, request)
  }

  private static func resolve(
    _ vault: isolated Vault, _ resolution: SyncResolution, _ request: Request
  ) async throws(VaultError) {
    try await made(vault).resolve(resolution, request)
  }

  private static func change(_ vault: isolated Vault, from known: Int) async throws(VaultError) -> Int {
    try await made(vault).items.change(from: known)
  }

  private static func made(_ vault: isolated Vault) -> CircleCalls {
    CircleCalls(presence: vault.presence, sessionLock: vault.sessionLock, nonces: vault.nonces)
  }
}
