import GRDB
import Keys
package import Primitives
package import VaultStore

/// Sets, changes and removes the passcode of a store.
package struct PasscodeChanges {
  let passcodes: Passcodes

  private var store: Store { passcodes.store }

  /// Changes the passcode, or sets the first one with the recovery key. Reseals items that need the passcode for a new
  /// passcode key, so that the old passcode opens none of them.
  package func change(_ context: Context) async throws(VaultError) {
    let proof: PasscodeProof =
      try passcodes.isSet
      ? .passcode(try await passcodes.prove(context)) : .recoveryKey(try await passcodes.proveRecoveryKey(context))
    _ = try await putNew(context, after: proof)
  }

  /// The items that die when the passcode is removed: those that need the passcode, and those of `passcode-set`.
  package func losses() throws(VaultError) -> [ItemName] {
    try store.read { snapshot in
      var seen: Set<[UInt8]> = []
      let rows = try Self.neededBy.flatMap { try snapshot.doomed(where: $0.condition, [$0.value], by: $0.gone) }
      return store.names(of: rows.filter { seen.insert($0.id).inserted })
    }
  }

  /// Removes the passcode. Items that need it, or need one to be set, die. Returns their names.
  package func remove(_ context: Context) async throws(VaultError) -> [ItemName] {
    guard !passcodes.rule.isRequired else {
      throw .invalidRequest("every store of the service has a passcode: 'whorl passcode' changes it")
    }
    try store.read { snapshot in try Self.requireRemovable(snapshot) }
    let passcode = try await passcodes.prove(context)
    let lost = try store.commit { change in
      try passcode.requireCurrent(change)
      try Self.requireRemovable(change)
      for name in [
        Slot.Name.passcode, .passcodeKeyByRecovery, .recoveryPublicKey, .passcodePublicKey, .classKey(.passcodeSet),
      ] {
        try change.remove(name)
      }
      if try change.hasCirclePasscodeKey() { try change.remove(.circlePasscodeKey) }
      change.authority.lockout.clear()
      return try Self.neededBy.flatMap { try change.kill(where: $0.condition, [$0.value], by: $0.gone) }
    }
    store.database.forgetOldPages()
    return lost
  }

  /// - Throws: `passcodeNotSet`; `invalidRequest` if the class keys are wrapped with the passcode's key.
  private static func requireRemovable(_ snapshot: StoreSnapshot) throws {
    guard try snapshot.slot(.passcode) != nil else { throw VaultError.passcodeNotSet }
    guard try snapshot.firstUnlock() == .none else {
      throw VaultError.invalidRequest(
        "this store asks for its passcode after each start, so the passcode cannot be removed")
    }
  }

  /// The items that the removal of the passcode affects: those that it can open, and those of `passcode-set`.
  private static var neededBy: [(condition: String, value: any DatabaseValueConvertible, gone: Requirement.Factor?)] {
    [
      ("access & ? != 0", AccessControl.passcodeFlag, .passcode),
      ("accessibility = ?", Accessibility.passcodeSet.rawValue, nil),
    ]
  }

  /// Recovers the store with the recovery key: sets a new passcode, clears lockout and delays, and accepts a restore.
  /// Returns the items that died with dropped fingers.
  ///
  /// - Parameter restore: the restore that ``Restores/detected()`` showed, if there is one.
  /// - Throws: `restoreDetected` if there is a restore and none was given.
  package func recover(accepting restore: DetectedRestore.ID?, _ context: Context) async throws(VaultError)
    -> [ItemName]
  {
    let recoveryKey = try await passcodes.proveRecoveryKey(context, evenRestored: restore != nil)
    return try await putNew(context, after: .recoveryKey(recoveryKey), accepting: restore)
  }

  /// Replaces the recovery key. Asks for the passcode, or the previous recovery key if no passcode is set. Makes a new
  /// passcode key as well, since the previous recovery key opens the old one.
  ///
  /// - Parameter text: the text of the new recovery key.
  package func replaceRecoveryKey(by text: SharedSecret, _ context: Context) async throws(VaultError) {
    let id = store.keys.databaseID
    let key = try RecoveryKey.slotKey(of: text.bytes)
    let slot = try Slot(.recovery, wrapping: store.keys.root, under: key, databaseID: id)
    if try passcodes.isSet {
      let publicKey: [UInt8]
      do {
        publicKey = try DerivedPair.recovery.publicKey(of: key, id)
      } catch {
        throw VaultError(cause: error)
      }
      let (proven, stretched) = try await passcodes.proveStretched(context)
      _ = try put(
        try await lock(stretched, in: store.seal), after: .passcode(proven), slots: [slot], recoveryPublicKey: publicKey
      )
    } else {
      let recoveryKey = try await passcodes.proveRecoveryKey(context)
      try store.commit { change in
        try recoveryKey.requireCurrentAlone(change)
        try change.put(slot)
      }
      store.database.forgetOldPages()
    }
  }

  /// The key of a new passcode slot.
  private func lock(_ stretched: StretchedPasscode, in seal: DeviceSeal) async throws(VaultError) -> LockedPasscode {
    let id = store.keys.databaseID
    return try await BlockingCall.run { () throws(VaultError) in try LockedPasscode(stretched, id, in: seal) }
  }

  /// Reseals the keys of the device slot and the passcode's slot, with a new passcode key. Asks for the passcode, or
  /// the recovery key if no passcode is set. Deletes a key file. For a TPM that seals to registers, asks for the
  /// recovery key as well: after a change of the registers only the recovery key opens the store.
  ///
  /// - Parameters:
  ///   - seal: a TPM or a credential.
  ///   - rollback: the guard for this seal.
  package func reseal(in seal: DeviceSeal, _ rollback: RollbackGuard?, _ context: Context) async throws(VaultError) {
    let id = store.keys.databaseID
    if try passcodes.isSet {
      if seal.tpm?.registers.isEmpty == false { _ = try await passcodes.proveRecoveryKey(context) }
      let (proven, stretched) = try await passcodes.proveStretched(context)
      let locked = try await lock(stretched, in: seal)
      let device = try DeviceSlot.slot(wrapping: store.keys.root, of: id, in: store.directory, seal)
      try store.cover(by: rollback)
      _ = try put(locked, after: .passcode(proven), slots: [device])
    } else {
      let recoveryKey = try await passcodes.proveRecoveryKey(context)
      let device = try DeviceSlot.slot(wrapping: store.keys.root, of: id, in: store.directory, seal)
      try store.cover(by: rollback)
      try store.commit { change in
        try recoveryKey.requireCurrentAlone(change)
        try change.put(device)
      }
      store.database.forgetOldPages()
    }
    store.isSealed(in: seal)
    DeviceKey.remove(in: store.directory)
  }

  /// What allows a new passcode to be set.
  private enum PasscodeProof {
    case passcode(ProvenPasscode)
    case recoveryKey(ProvenRecoveryKey)
  }

  /// Asks for the new passcode, makes a new passcode key, and reseals for it what the old one opens, in one
  /// transaction.
  private func putNew(
    _ context: Context, after proof: PasscodeProof, accepting restore: DetectedRestore.ID? = nil
  ) async throws(VaultError) -> [ItemName] {
    guard let passcode = try await context.ask(.newPasscode) else { throw .interactionNotAllowed }
    try Passcodes.check(
      passcode.bytes, shortest: passcodes.rule.shortest, in: store.seal.tier,
      allowsGuessable: context.options.allowsGuessablePasscode)
    return try put(try await passcodes.lockNew(passcode), after: proof, accepting: restore)
  }

  /// Makes a new passcode key under a passcode, and reseals for it what the old one opens, in one transaction.
  ///
  /// - Parameters:
  ///   - slots: other new slots, stored with it.
  ///   - recoveryPublicKey: of a new recovery key; nil keeps the current one.
  private func put(
    _ locked: LockedPasscode, after proof: PasscodeProof, accepting restore: DetectedRestore.ID? = nil,
    slots: [Slot] = [], recoveryPublicKey: [UInt8]? = nil
  ) throws(VaultError) -> [ItemName] {
    let (lost, first) = try store.commit(evenRestored: restore != nil) { change in
      let lost = try restore.map { try change.accept($0) } ?? []
      for slot in slots { try change.put(slot) }
      let (old, currentPublicKey) = try Self.keys(of: proof, change)
      let key = try Random.key()
      var first: SharedSecret?
      if let old {
        try change.moveItems(from: old.bytes, to: key)
        first = try change.openClassKeys(with: old.bytes)
      }
      try change.putPasscodeKey(key, under: locked, recoveryPublicKey: recoveryPublicKey ?? currentPublicKey)
      if let first { try change.putFirstKey(first, under: key) } else { first = try change.openClassKeys(with: key) }
      change.authority.lockout.clear()
      return (lost, first)
    }
    store.database.forgetOldPages()
    if let first { passcodes.opened(first) }
    return lost
  }

  /// The old passcode key, if there is one, and the recovery key's public key, for which the new one is sealed as well.
  private static func keys(of proof: PasscodeProof, _ snapshot: StoreSnapshot) throws
    -> (old: SharedSecret?, recoveryPublicKey: [UInt8])
  {
    switch proof {
    case .passcode(let passcode):
      try passcode.requireCurrent(snapshot)
      return (passcode.key, try snapshot.recoveryPublicKey(passcode.key.bytes))
    case .recoveryKey(let recoveryKey):
      try recoveryKey.requireCurrent(snapshot)
      let old: SharedSecret? =
        if let key = try snapshot.passcodeKey(byRecovery: recoveryKey.key.bytes) { SharedSecret(key) } else {
          nil
        }
      return (old, try DerivedPair.recovery.publicKey(of: recoveryKey.key.bytes, snapshot.store.keys.databaseID))
    }
  }
}
