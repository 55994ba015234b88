import GRDB
import Keys
import SecureMemory

extension Vault {
  /// Opens the classes of items that are closed until the passcode, and clears a lockout, with the passcode (the recovery
  /// key where none is set).
  ///
  /// - Throws: `restoreDetected` where an earlier copy was put back, which ``acceptRestore(_:_:)`` accepts.
  func unlock(_ request: Request) async throws(VaultError) {
    try await asking(request) { context throws(VaultError) in try await self.authorizeChange(context) }
  }

  /// Changes the passcode, or sets the first one with the recovery key. What is stored under the passcode moves to a new
  /// passcode key: the old passcode opens nothing of it any more.
  func changePasscode(_ request: Request) async throws(VaultError) {
    try await asking(request) { context throws(VaultError) in
      let proof: PasscodeProof =
        try self.passcodeIsSet()
        ? .passcode(try await self.provePasscode(context)) : .recoveryKey(try await self.proveRecoveryKey(context))
      _ = try await self.putNewPasscode(context, after: proof)
    }
  }

  /// The items that die when the passcode is removed: those of all classes that need it, and those that need one to be
  /// set.
  package func passcodeLosses() throws(VaultError) -> [ItemName] {
    let store = store
    return try store.read { moment in
      var seen: Set<[UInt8]> = []
      let rows = try Self.neededBy.flatMap { try moment.doomed(where: $0.condition, [$0.value], by: $0.gone) }
      return store.names(of: rows.filter { seen.insert($0.id).inserted })
    }
  }

  /// Removes the passcode. What needed it, or needed that one was set, is dead: the names are returned.
  func removePasscode(_ request: Request) async throws(VaultError) -> [ItemName] {
    let store = store
    return try await asking(request) { context throws(VaultError) in
      try store.read { moment in try Self.requireRemovable(moment) }
      let passcode = try await self.provePasscode(context)
      let lost = try store.commit { change in
        try passcode.requireCurrent(change)
        try Self.requireRemovable(change)
        for name in [
          Slot.Name.passcode, .passcodeKeyByRecovery, .recoveryPublicKey, .passcodePublicKey, .classKey(.passcodeSet),
        ] {
          try change.remove(name)
        }
        change.authority.lockout.clear()
        return try Self.neededBy.flatMap { try change.kill(where: $0.condition, [$0.value], by: $0.gone) }
      }
      store.database.forgetOldPages()
      return lost
    }
  }

  /// - Throws: `passcodeNotSet`; `invalidRequest` where the passcode has a part in every class key.
  private static func requireRemovable(_ moment: Moment) throws {
    guard try moment.slot(.passcode) != nil else { throw VaultError.passcodeNotSet }
    guard try moment.firstUnlock() == .none else {
      throw VaultError.invalidRequest("this store asks for its passcode after each start, so that it has to have one")
    }
  }

  /// Which items the passcode's removal touches: those with a way in through it, and those of `passcode-set`.
  private static var neededBy: [(condition: String, value: any DatabaseValueConvertible, gone: Requirement.Factor?)] {
    [
      ("access & ? != 0", AccessControl.passcodeFlag, .passcode),
      ("accessibility = ?", Accessibility.passcodeSet.rawValue, nil),
    ]
  }

  /// The way back: with the recovery key a new passcode is set, lockout and delays are cleared, and a restore is accepted.
  /// Gives the items that died with fingers no record vouches for.
  ///
  /// - Parameter restore: what ``detectedRestore()`` showed, where there is one.
  /// - Throws: `restoreDetected` where there is one and it was not given.
  func recover(accepting restore: DetectedRestore.ID?, _ request: Request) async throws(VaultError) -> [ItemName] {
    try await asking(request) { context throws(VaultError) in
      let recoveryKey = try await self.proveRecoveryKey(context, evenRestored: restore != nil)
      return try await self.putNewPasscode(context, after: .recoveryKey(recoveryKey), accepting: restore)
    }
  }

  /// The key of the recovery slot, after the recovery key was given and found right. It is too long to guess, so
  /// wrong ones are not counted.
  func proveRecoveryKey(_ context: Context, evenRestored: Bool = false) async throws(VaultError) -> SecretBox {
    let store = store
    let slot = try store.read { moment in
      guard evenRestored || !moment.authority.restored else { throw VaultError.restoreDetected }
      return try moment.slot(.recovery)
    }
    guard let slot else { throw .storeDamaged("it has no recovery slot") }
    guard let text = try await ask(.recoveryKey, context) else { throw .interactionNotAllowed }
    let key = try Self.recoveryKey(from: text.secret)
    _ = try Self.unwrap(slot, under: key, store.keys.databaseID, otherwise: .wrongRecoveryKey)
    return SecretBox(key)
  }

  /// What allows a new passcode to be set.
  private enum PasscodeProof {
    case passcode(ProvenPasscode)
    case recoveryKey(SecretBox)
  }

  /// Asks for the new passcode, makes a new passcode key, and moves to it what is stored under the old one: all of it in
  /// one transaction, or nothing.
  private func putNewPasscode(
    _ context: Context, after proof: PasscodeProof, accepting restore: DetectedRestore.ID? = nil
  ) async throws(VaultError) -> [ItemName] {
    guard let passcode = try await ask(.newPasscode, context) else { throw .interactionNotAllowed }
    try Self.checkPasscode(passcode.secret)
    let stretched = try await stretchNew(passcode)
    let store = store
    let (lost, first) = try store.commit(evenRestored: restore != nil) { change in
      let lost = try restore.map { try change.accept($0) } ?? []
      let (old, recoveryPublicKey) = try Self.keys(of: proof, change)
      let key = try Random.key()
      var first: SecretBox?
      if let old {
        try change.moveItems(from: old.secret, to: key)
        first = try change.openClassKeys(with: old.secret)
      }
      try change.putPasscodeKey(key, under: stretched, recoveryPublicKey: recoveryPublicKey)
      if let first { try change.putFirstKey(first, under: key) } else { first = try change.openClassKeys(with: key) }
      change.authority.lockout.clear()
      return (lost, first)
    }
    store.database.forgetOldPages()
    if let first { opened(first) }
    return lost
  }

  /// The passcode key so far, where there is one, and for whom the new one is sealed beside the passcode.
  private static func keys(of proof: PasscodeProof, _ moment: Moment) throws
    -> (old: SecretBox?, recoveryPublicKey: [UInt8])
  {
    switch proof {
    case .passcode(let passcode):
      try passcode.requireCurrent(moment)
      return (passcode.key, try moment.recoveryPublicKey(passcode.key.secret))
    case .recoveryKey(let recoveryKey):
      let old: SecretBox? =
        if let key = try moment.passcodeKey(byRecovery: recoveryKey.secret) { SecretBox(key) } else {
          nil
        }
      return (old, try DerivedPair.recovery.publicKey(of: recoveryKey.secret, moment.store.keys.databaseID))
    }
  }
}
