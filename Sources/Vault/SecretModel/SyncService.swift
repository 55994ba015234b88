package import SecureMemory

/// The calls of an open vault about its circle: the machines that share items. What they return of items is encrypted
/// to the members of the circle, so most of them ask nobody.
package protocol SyncService: Sendable {
  func status() async throws(VaultError) -> SyncStatus
  /// Makes a circle, or asks to be let into one. Asks for the passcode (the recovery key if none is set).
  ///
  /// - Throws: `invalidRequest` where the store is in a circle already, `fileUnreadable` for records that do not verify.
  func begin(_ beginning: SyncBeginning, _ asking: Asking) async throws(VaultError)
  /// Brings in the items of a circle whose machines are all lost, and makes a new circle.
  ///
  /// - Parameters:
  ///   - records: all files under `circle/`.
  ///   - recoveryKey: of one of the lost stores.
  /// - Throws: `wrongRecoveryKey`, `malformedRecoveryKey`, and the errors of ``begin(_:_:)``.
  func recover(
    machine: String, records: [SyncFile], recoveryKey: consuming SecretBytes, _ asking: Asking
  ) async throws(VaultError)
  /// The identity with which `age` opens every file of a circle, in the form that age reads, from the recovery key of one of
  /// its machines. Neither reads nor changes the store.
  ///
  /// - Throws: `wrongRecoveryKey`, `malformedRecoveryKey`, `fileUnreadable`.
  func identity(records: [SyncFile], recoveryKey: consuming SecretBytes) async throws(VaultError) -> SecretBytes
  /// Takes files that the repository has or no longer has. Verifies each, and stores what is newer. Asks nobody.
  ///
  /// - Parameters:
  ///   - files: at most ``SyncFile/pageLimit`` bytes together. Files under `circle/` come before all others.
  ///   - isLast: whether these are the last ones of a state of the repository.
  func receive(_ files: [SyncFile], isLast: Bool) async throws(VaultError) -> SyncReceipt
  /// The files that the repository, as it was received last, should have. Asks nobody. They count as published when they
  /// are received again.
  ///
  /// - Parameters:
  ///   - after: ``SyncBatch/next`` of the page before; nil for the first one.
  ///   - puttingBack: whether to publish again what the repository has lost. Without this a repository that has lost
  ///     something gets nothing.
  func files(after: String?, puttingBack: Bool) async throws(VaultError) -> SyncBatch
  /// Changes the members. Asks for a finger or the passcode.
  ///
  /// - Throws: `itemGone` for an unknown machine.
  func change(_ change: SyncMemberChange, _ asking: Asking) async throws(VaultError)
  /// Carries out what a person has decided about an item, after what its rule requires.
  ///
  /// - Throws: `itemGone` where nothing of that name is kept or waits.
  func resolve(_ resolution: SyncResolution, _ asking: Asking) async throws(VaultError)
  /// Waits until the number of records that the repository lacks, or of what needs a person, is another one than the
  /// caller knows, and returns it. Ends with `cancelled` when the task is cancelled.
  func change(from known: Int) async throws(VaultError) -> Int
}
