import Keys
import SecureMemory

extension Vault {
  /// The passcode key, after the passcode was given and found right; it clears every count of failures.
  ///
  /// Each try is counted before it is made. Three tries, with whatever delay the earlier ones have earned.
  func provePasscode(_ context: Context, evenRestored: Bool = false) async throws(VaultError) -> ProvenPasscode {
    let store = store
    for attempt in 1...3 {
      let slot = try passcodeSlot(evenRestored: evenRestored)
      try requireNoDelay(.passcode)
      guard let passcode = try await ask(.passcode(attempt: attempt), context) else {
        throw attempt > 1 ? .wrongPasscode : .interactionNotAllowed
      }
      // Before the charge: a call that finds no place, or is cancelled while it waits for one, has tried nothing.
      let turn = try await scrypt.turn(for: store.owner)
      try store.commit(evenRestored: true, charge: true) { change in
        try Self.requirePasscodeCounts(change.authority, evenRestored: evenRestored)
        try change.charge(.passcode)
      }
      let stretched = try await turn.stretch(passcode, .init(encoded: slot.parameters), store.floor)
      do throws(VaultError) {
        let key = try Self.unwrap(slot, under: stretched.secret, store.keys.databaseID, otherwise: .wrongPasscode)
        try accept(key)
        // Nothing follows for a call that was cancelled while scrypt ran.
        try context.requireRunning()
        return ProvenPasscode(key: SecretBox(key), slot: slot.digest())
      } catch .wrongPasscode {
        let delay = try store.read { moment in moment.authority.lockout.passcode.remainingDelay(store.clock) }
        if delay > 0 {
          context.events.yield(.notice(.passcodeDelay(delay)))
          throw .wrongPasscode
        }
      }
    }
    throw .wrongPasscode
  }

  /// The right recovery key clears every count of failures, as the right passcode does.
  func clearFailures() throws(VaultError) {
    try store.commit(evenRestored: true) { change in change.authority.lockout.clear() }
  }

  /// Of a store with an earlier copy in it no passcode is tried, except to accept that; and where nothing vouches for the
  /// passcode's slot, not even then.
  private static func requirePasscodeCounts(_ authority: Authority, evenRestored: Bool) throws {
    guard authority.restored else { return }
    guard !authority.doubts.contains(.slots) else { throw VaultError.recoveryKeyRequired }
    guard evenRestored else { throw VaultError.restoreDetected }
  }

  private func passcodeSlot(evenRestored: Bool) throws(VaultError) -> Slot {
    let store = store
    return try store.read { moment in
      try Self.requirePasscodeCounts(moment.authority, evenRestored: evenRestored)
      guard let slot = try moment.slot(.passcode) else { throw VaultError.passcodeNotSet }
      return slot
    }
  }
}

/// The passcode key, and which passcode gave it.
struct ProvenPasscode {
  let key: SecretBox
  /// The digest of the passcode's slot.
  let slot: [UInt8]

  /// Refuses where the passcode was changed or removed since: its key may be gone from the store.
  func requireCurrent(_ moment: Moment) throws {
    guard try moment.slot(.passcode)?.digest() == slot else {
      throw VaultError.busy("the passcode was changed meanwhile")
    }
  }
}
