import Fingerprint

extension Vault {
  /// The items that die when a finger is enrolled on the attached reader, or taken out of its set.
  package func boundItems() async throws(VaultError) -> [ItemName] {
    let verified = try sets.verified()
    guard let first = verified.first else { return [] }
    let changing: StoredSet?
    do throws(VaultError) {
      let attached = try await readers.attached()
      changing = verified.first { $0.set.isOn(attached) }
    } catch {
      // Taking a finger out needs no reader when there is one set only.
      guard verified.count == 1 else { throw error }
      changing = first
    }
    guard let changing else { return [] }
    return try sets.bound(to: changing)
  }

  /// Enrols a finger, or enrols it anew, after the passcode (the recovery key where none is set).
  func enroll(_ finger: Finger, _ request: Request) async throws(VaultError) -> SetChange {
    try await asking(request) { context throws(VaultError) in
      try await self.authorizeChange(context)
      return try await self.enrolment.enroll(finger, context)
    }
  }

  /// Takes one finger, or all of them, out of the set. The reader is needed only to clear its chip.
  func unenroll(_ finger: Finger?, _ request: Request) async throws(VaultError) -> SetChange {
    try await asking(request) { context throws(VaultError) in
      let damaged = try self.currentStatus().damagedSets
      guard finger == nil, damaged > 0 else {
        let stored = try await self.enrolment.setToChange(holding: finger)
        try await self.authorizeChange(context)
        return try await self.enrolment.unenroll(finger, from: stored, context)
      }
      // The way back from a set whose record was damaged.
      try await self.authorizeChange(context)
      let lost = try self.store.commit { change in try change.dropDamagedSets() }
      guard let stored = try self.sets.verified().first(where: { !$0.set.enrolments.isEmpty }) else {
        return SetChange(finger: nil, fingers: [], lost: lost)
      }
      var change = try await self.enrolment.unenroll(nil, from: stored, context)
      change.lost += lost
      return change
    }
  }

  /// Changing the set needs the passcode, or the recovery key where there is none.
  func authorizeChange(_ context: Context) async throws(VaultError) {
    if try passcodeIsSet() {
      _ = try await provePasscode(context)
    } else {
      _ = try await proveRecoveryKey(context)
      try clearFailures()
    }
  }
}
