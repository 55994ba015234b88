package import Presence
package import Primitives
package import SecretModel
import VaultItems
import VaultStore

/// The calls about the owner's fingers and passcode.
extension Vault {
  /// The state of fingers and passcode, for a program. Asks nobody. Lists readers; opens only fprintd's, to read its fingers.
  package func biometry(for caller: Caller? = nil) async throws(VaultError) -> Biometry {
    try await presence.fingers.biometry(for: caller ?? itself.caller)
  }

  /// The items that a change would destroy.
  package func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] {
    switch change {
    case .fingers: try await presence.fingers.boundItems()
    case .passcode: try presence.passcodeChanges.losses()
    }
  }

  package func enroll(_ finger: Finger, _ request: Request) async throws(VaultError) -> SetChange {
    let turn = try await presence.contexts.turn(of: request)
    return try await presence.enrolment.enroll(finger, turn.context)
  }

  package func unenroll(_ finger: Finger?, _ request: Request) async throws(VaultError) -> SetChange {
    let turn = try await presence.contexts.turn(of: request)
    return try await presence.enrolment.unenroll(finger, turn.context)
  }

  /// Opens the classes that need the passcode first, and clears a lockout. Asks for the passcode, else the recovery key.
  ///
  /// - Throws: `restoreDetected` where an earlier copy was put back; ``acceptRestore(_:_:)`` accepts it.
  package func unlock(_ request: Request) async throws(VaultError) {
    let turn = try await presence.contexts.turn(of: request)
    try await presence.passcodes.authorizeChange(turn.context)
  }

  /// Closes the classes that ``unlock(_:)`` has opened, until the passcode is given again.
  ///
  /// - Throws: `invalidRequest` in a store that is open from the start.
  package func lock() throws(VaultError) {
    let firstUnlock = try store.read { snapshot in try snapshot.firstUnlock() }
    guard firstUnlock != .none else {
      throw .invalidRequest("the items of this store are open without an unlock, so there is nothing to lock")
    }
    store.classKeys.close()
    // Forget passcodes kept in contexts, or they would still open items.
    presence.contexts.forgetPasscodes()
  }

  /// Closes the classes that need an unlocked session, when all of the owner's are locked, or before sleep.
  package func sessionsLocked() { store.classKeys.sessionsLocked() }

  package func changePasscode(_ request: Request) async throws(VaultError) {
    let turn = try await presence.contexts.turn(of: request)
    try await presence.passcodeChanges.change(turn.context)
  }

  package func removePasscode(_ request: Request) async throws(VaultError) -> [ItemName] {
    let turn = try await presence.contexts.turn(of: request)
    return try await presence.passcodeChanges.remove(turn.context)
  }

  /// Recovers the store with the recovery key: sets a new passcode, clears lockout and delays, and accepts a restore.
  package func recover(accepting restore: DetectedRestore.ID?, _ request: Request) async throws(VaultError)
    -> [ItemName]
  {
    let turn = try await presence.contexts.turn(of: request)
    return try await presence.passcodeChanges.recover(accepting: restore, turn.context)
  }

  /// Replaces the recovery key. Asks for the passcode (the previous recovery key where none is set).
  package func replaceRecoveryKey(by text: SharedSecret, _ request: Request) async throws(VaultError) {
    let turn = try await presence.contexts.turn(of: request)
    try await presence.passcodeChanges.replaceRecoveryKey(by: text, turn.context)
    try SyncedItems(store, nonces).use(recoveryKey: text)
  }

  /// What a detected restore would bring back; nil where none was detected.
  package func detectedRestore() throws(VaultError) -> DetectedRestore? { try presence.restores.detected() }

  package func acceptRestore(_ id: DetectedRestore.ID, _ request: Request) async throws(VaultError) -> [ItemName] {
    let turn = try await presence.contexts.turn(of: request)
    return try await presence.restores.accept(id, turn.context)
  }

  /// Writes a backup of the store into an empty file. Asks nobody.
  package func backUp(to file: Int32) throws(VaultError) { try backups.write(to: file) }

  /// What restoring a backup of this store would change. Asks nobody.
  package func contents(ofBackup file: Int32) throws(VaultError) -> BackupContents { try backups.contents(of: file) }

  /// Replaces the items by those of a backup, with the passcode or the recovery key.
  package func restore(_ file: Int32, accepting id: BackupContents.ID, _ request: Request) async throws(VaultError)
    -> [ItemName]
  {
    let turn = try await presence.contexts.turn(of: request)
    return try await backups.restore(file, accepting: id, turn.context)
  }

  /// The attached readers, and the one that this store would use.
  package func readerList() async -> ReaderList { await presence.readers.list() }

  /// Changes the adapter that `auto` means in this store, after the passcode (the recovery key where none is set).
  package func use(_ adapter: ReaderAdapter?, _ request: Request) async throws(VaultError) {
    let recorded = try store.read { snapshot in snapshot.authority.adapter }
    guard recorded != adapter || adapter?.sharesFingers == true else { return }
    let turn = try await presence.contexts.turn(of: request)
    try await presence.use(adapter, turn.context)
  }
}
