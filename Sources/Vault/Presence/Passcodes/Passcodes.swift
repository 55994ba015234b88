import Keys
package import Primitives
package import VaultStore

/// Asks for the passcode or the recovery key, and checks it.
package struct Passcodes {
  /// The maximum length of a passcode, in bytes.
  private static let longest = 1024

  package let store: Store
  /// The queue that runs scrypt on passcodes and passwords.
  let scrypt: ScryptQueue
  let rule: PasscodeRule

  /// Refuses a new passcode that is too short or too long. If a copy of the store allows unlimited guesses, also
  /// refuses one that a day of guesses would find, unless the person insists.
  package static func check(
    _ passcode: borrowing SecretBytes, shortest: Int, in tier: VaultStatus.Tier, allowsGuessable: Bool
  ) throws(VaultError) {
    guard passcode.count >= shortest else { throw .invalidPasscode("it is shorter than \(shortest) characters") }
    guard passcode.count <= longest else { throw .invalidPasscode("it is longer than \(longest) bytes") }
    guard tier.isOpenToGuesses, !allowsGuessable else { return }
    guard PasscodeGuesses.estimate(passcode) > PasscodeGuesses.inADay else { throw .guessablePasscode }
  }

  /// Whether a passcode is set. Reads only its slot, so that damage elsewhere does not prevent its use.
  package var isSet: Bool {
    get throws(VaultError) { try store.read { snapshot in try snapshot.slot(.passcode) != nil } }
  }

  /// Derives a key from a new application password by scrypt, with a new salt.
  package func stretchNew(_ password: SharedSecret) async throws(VaultError) -> StretchedPasscode {
    try await scrypt.stretchNew(password, for: store.owner, store.floor)
  }

  /// The slot key for a new passcode, derived by scrypt with a new salt, and from a secret of the store's TPM or
  /// credential.
  func lockNew(_ passcode: SharedSecret) async throws(VaultError) -> LockedPasscode {
    let stretched = try await stretchNew(passcode)
    let (id, seal) = (store.keys.databaseID, store.seal)
    return try await BlockingCall.run { () throws(VaultError) in try LockedPasscode(stretched, id, in: seal) }
  }

  /// Authorizes a change of fingers or rules: with the passcode, or the recovery key if no passcode is set.
  package func authorizeChange(_ context: Context) async throws(VaultError) {
    if try isSet {
      _ = try await prove(context)
    } else {
      let recoveryKey = try await proveRecoveryKey(context)
      // The right recovery key clears every count of failures, as the right passcode does.
      try store.commit(evenRestored: true) { change in
        try recoveryKey.requireCurrentAlone(change)
        change.authority.lockout.clear()
      }
    }
  }

  /// Asks for the passcode and returns its key. The right passcode clears every count of failures.
  ///
  /// Each try is counted before it is made. Allows three tries, unless a delay from earlier ones begins.
  package func prove(_ context: Context, evenRestored: Bool = false) async throws(VaultError) -> ProvenPasscode {
    try await proveStretched(context, evenRestored: evenRestored).proven
  }

  /// Like ``prove(_:evenRestored:)``, and also returns scrypt's output, from which a new slot can be made.
  func proveStretched(_ context: Context, evenRestored: Bool = false)
    async throws(VaultError) -> (proven: ProvenPasscode, stretched: StretchedPasscode)
  {
    for attempt in 1...3 {
      let slot = try slot(evenRestored: evenRestored)
      let lock = try PasscodeLock(parameters: slot.parameters)
      let (id, seal) = (store.keys.databaseID, store.seal)
      try store.requireNoDelay(.passcode)
      if !lock.needsPasscodeAlone {
        do throws(VaultError) {
          // Wait for a turn, so that a user with many calls does not keep others from the TPM.
          let turn = try await scrypt.turn(for: store.owner)
          try await BlockingCall.run { () throws(VaultError) in try lock.requireTry(seal) }
          _ = consume turn
        } catch .passcodeDelayed(let seconds) where attempt > 1 {
          // After this wrong passcode the TPM accepts no other one for some time.
          context.events.yield(.notice(.passcodeDelay(seconds)))
          throw .wrongPasscode
        }
      }
      guard let passcode = try await context.ask(.passcode(attempt: attempt)) else {
        throw attempt > 1 ? .wrongPasscode : .interactionNotAllowed
      }
      // Wait before the charge, so that a call that is refused or cancelled in the queue does not count as a try.
      let turn = try await scrypt.turn(for: store.owner)
      try store.commit(evenRestored: true, charge: true) { change in
        try Self.requireCounts(change.authority, evenRestored: evenRestored)
        try change.charge(.passcode)
      }
      let stretched = try await turn.stretch(passcode, lock.scrypt, store.floor)
      do throws(VaultError) {
        let opening =
          lock.needsPasscodeAlone
          ? stretched
          : try await BlockingCall.run { () throws(VaultError) in
            SharedSecret(try lock.key(of: stretched.bytes, id, seal))
          }
        let key = try slot.unwrap(under: opening.bytes, databaseID: id, otherwise: .wrongPasscode)
        let proven = ProvenPasscode(key: SharedSecret(key), slot: slot.digest())
        try accept(proven)
        // The call may have been cancelled while scrypt ran.
        try context.requireRunning()
        return (proven, StretchedPasscode(parameters: lock.scrypt, key: stretched))
      } catch .wrongPasscode {
        context.events.noteWrongPasscode()
        let delay = try store.read { snapshot in snapshot.authority.lockout.passcode.remainingDelay(store.clock) }
        if delay > 0 {
          context.events.yield(.notice(.passcodeDelay(delay)))
          throw .wrongPasscode
        }
      }
    }
    throw .wrongPasscode
  }

  /// Asks for the recovery key and returns the key of the recovery slot. It is too long to guess, so wrong ones are not
  /// counted.
  package func proveRecoveryKey(_ context: Context, evenRestored: Bool = false) async throws(VaultError)
    -> ProvenRecoveryKey
  {
    let slot = try store.read { snapshot in
      guard evenRestored || !snapshot.authority.restored else { throw VaultError.restoreDetected }
      return try snapshot.slot(.recovery)
    }
    guard let slot else { throw .storeDamaged("it has no recovery slot") }
    guard let text = try await context.ask(.recoveryKey) else { throw .interactionNotAllowed }
    let key = try RecoveryKey.slotKey(of: text.bytes)
    _ = try slot.unwrap(under: key, databaseID: store.keys.databaseID, otherwise: .wrongRecoveryKey)
    return ProvenRecoveryKey(key: SharedSecret(key), slot: slot.digest())
  }

  /// Keeps the key of `after-first-unlock`, which the passcode has opened.
  package func opened(_ first: SharedSecret) {
    store.classKeys.open(first, of: store.keys.databaseID, store.clock)
  }

  /// The right passcode clears every count of failures, and opens the classes that are closed until then.
  private func accept(_ passcode: ProvenPasscode) throws(VaultError) {
    let (first, sealed) = try store.commit(evenRestored: true) { change in
      try passcode.requireCurrent(change)
      change.authority.lockout.clear()
      let before = change.authority.digest(of: .slots)
      let first = try change.openClassKeys(with: passcode.key.bytes)
      return (first, change.authority.digest(of: .slots) != before)
    }
    // The log may still hold the old wrappings, which need no passcode.
    if sealed { store.database.forgetOldPages() }
    if let first { opened(first) }
  }

  /// After a restore the passcode is accepted only to accept the restore, and only if a record shows that its slot is
  /// the latest.
  private static func requireCounts(_ authority: Authority, evenRestored: Bool) throws {
    guard authority.restored else { return }
    guard !authority.doubts.contains(.slots) else { throw VaultError.recoveryKeyRequired }
    guard evenRestored else { throw VaultError.restoreDetected }
  }

  private func slot(evenRestored: Bool) throws(VaultError) -> Slot {
    try store.read { snapshot in
      try Self.requireCounts(snapshot.authority, evenRestored: evenRestored)
      guard let slot = try snapshot.slot(.passcode) else { throw VaultError.passcodeNotSet }
      return slot
    }
  }
}
