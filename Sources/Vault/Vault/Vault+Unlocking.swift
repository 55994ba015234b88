import SecretModel
import SecureMemory

extension Vault {
  /// The right passcode clears every count of failures, and opens the classes that are closed until then.
  func accept(_ passcodeKey: borrowing SecretBytes) throws(VaultError) {
    let store = store
    let (first, sealed) = try store.commit(evenRestored: true) { change in
      change.authority.lockout.clear()
      let before = change.authority.digest(of: .slots)
      let first = try change.openClassKeys(with: passcodeKey)
      return (first, change.authority.digest(of: .slots) != before)
    }
    // The wrappings that did without the passcode are not to stay readable.
    if sealed { store.database.forgetOldPages() }
    if let first { opened(first) }
  }

  /// Remembers the key that the passcode has opened.
  func opened(_ first: SecretBox) {
    store.classKeys.open(first, of: store.keys.databaseID, store.clock)
  }

  /// Closes what ``unlock(_:)`` has opened: the passcode is asked for before anything of it is released.
  ///
  /// - Throws: `invalidRequest` in a store that is open from the start.
  func lock() throws(VaultError) {
    let firstUnlock = try store.read { moment in try moment.firstUnlock() }
    guard firstUnlock == .passcode else {
      throw .invalidRequest("the items of this store are open without an unlock, so there is nothing to lock")
    }
    store.classKeys.close()
    // A passcode that a context keeps would go on opening items under it.
    for context in contexts.values { context.evidence.passcode = nil }
  }

  /// All sessions of the owner are locked now, or the machine is about to sleep: what follows them is closed.
  package func sessionsLocked() { store.classKeys.sessionsLocked() }

  /// Learns whether a session of the user is unlocked: for items that follow it.
  func followSessions() async {
    let locks = store.classKeys.locks
    let unlocked = await gate.isUnlocked(owner)
    store.classKeys.note(sessionsUnlocked: unlocked, asOf: locks)
  }
}
