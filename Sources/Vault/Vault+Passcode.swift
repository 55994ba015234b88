import GRDB
import Keys
import SecureMemory

extension Vault {
  /// Clears a lockout with the passcode (the recovery key where none is set), and accepts a detected restore.
  package func unlock(in handle: ContextHandle) async throws(VaultError) {
    try await asking(in: handle) { context throws(VaultError) in
      if try self.passcodeIsSet() {
        _ = try await self.provePasscode(context, acceptingRestore: true)
      } else {
        _ = try await self.proveRecoveryKey(context)
        try self.accept(restore: true)
      }
    }
  }

  /// Changes the passcode, or sets the first one with the recovery key. Items keep their keys: one blob is rewrapped.
  package func changePasscode(in handle: ContextHandle) async throws(VaultError) {
    try await asking(in: handle) { context throws(VaultError) in
      if try self.passcodeIsSet() {
        let passcode = try await self.provePasscode(context)
        try await self.putNewPasscode(context, replacing: passcode, recoveryKey: nil)
      } else {
        let recoveryKey = try await self.proveRecoveryKey(context)
        try await self.putNewPasscode(context, replacing: nil, recoveryKey: recoveryKey)
      }
    }
  }

  /// Removes the passcode. What needed it, or needed that one was set, is dead: the names are returned.
  package func removePasscode(in handle: ContextHandle) async throws(VaultError) -> [ItemName] {
    let store = store
    return try await asking(in: handle) { context throws(VaultError) in
      guard try self.passcodeIsSet() else { throw .passcodeNotSet }
      let passcode = try await self.provePasscode(context)
      let lost = try store.commit { db, authority in
        try passcode.requireCurrent(store, db, authority)
        for name in [
          Slot.Name.passcode, .passcodeKeyByPasscode, .passcodeKeyByRecovery, .passcodePublicKey,
          .classKey(.passcodeSet),
        ] {
          try store.remove(name, db, &authority)
        }
        authority.lockout.clear()
        let passcode = Int64(bitPattern: AccessControl(.passcode).flags.rawValue)
        return try store.kill(db, where: "access & ? != 0", [passcode], by: .passcode)
          + store.kill(db, where: "accessibility = ?", [Accessibility.passcodeSet.rawValue], by: nil)
      }
      store.database.forgetOldPages()
      return lost
    }
  }

  /// The way back: with the recovery key a new passcode is set, lockout and delays are cleared, a restore accepted.
  package func recover(in handle: ContextHandle) async throws(VaultError) {
    try await asking(in: handle) { context throws(VaultError) in
      let recoveryKey = try await self.proveRecoveryKey(context)
      try self.accept(restore: true)
      try await self.putNewPasscode(context, replacing: nil, recoveryKey: recoveryKey)
    }
  }

  /// The key of the recovery slot, after the recovery key was given and found right. It is too long to guess, so
  /// wrong ones are not counted.
  func proveRecoveryKey(_ context: Context) async throws(VaultError) -> SecretBox {
    let store = store
    let slot = try store.read { db, authority in try store.slot(.recovery, db, authority) }
    guard let slot else { throw .storeDamaged("it has no recovery slot") }
    guard let text = try await ask(.recoveryKey, context) else { throw .interactionNotAllowed }
    let key = try Self.recoveryKey(from: text.secret)
    _ = try Self.unwrap(slot, under: key, store.keys.databaseID, otherwise: .wrongRecoveryKey)
    return SecretBox(key)
  }

  /// Asks for the new passcode and wraps root and passcode key under it. The passcode key is that of the old
  /// passcode, else the one the recovery slot holds, else a new one, so that what is stored under it is not lost.
  private func putNewPasscode(_ context: Context, replacing old: ProvenPasscode?, recoveryKey: SecretBox?)
    async throws(VaultError)
  {
    guard let passcode = try await ask(.newPasscode, context) else { throw .interactionNotAllowed }
    try Self.checkPasscode(passcode.secret)
    guard let stretched = try await Self.stretchNew(passcode, store.floor) else { return }
    let store = store
    try store.commit { db, authority in
      try old?.requireCurrent(store, db, authority)
      var key = old?.key
      if key == nil, let recoveryKey {
        if let slot = try store.slot(.passcodeKeyByRecovery, db, authority) {
          key = SecretBox(
            try Self.unwrap(slot, under: recoveryKey.secret, store.keys.databaseID, otherwise: .wrongRecoveryKey))
        } else {
          let fresh = SecretBox(try Random.key())
          try store.put(
            Slot(
              .passcodeKeyByRecovery, wrapping: fresh.secret, under: recoveryKey.secret,
              databaseID: store.keys.databaseID), db, &authority)
          key = fresh
        }
      }
      guard let key else { throw VaultError.internalError("no passcode key to wrap") }
      try store.putPasscode(stretched, key.secret, db, &authority)
    }
    store.database.forgetOldPages()
  }
}
