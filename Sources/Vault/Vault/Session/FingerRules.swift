/// A change for which the system asks users for their login password, so that no program makes it in their place.
package enum OwnersChange: Sendable, Hashable, CaseIterable {
  case newStore, storeOfBackup, newDeviceKey, firstFinger, newRecoveryKey
}

/// Checks the machine's rules, in addition to the store's passcode, before a session changes the fingers or the
/// recovery key of its store. Each closure throws if the rules forbid the change.
package struct FingerRules: Sendable {
  /// Called before the enrolled fingers or the store's reader adapter are changed.
  package var change: @Sendable () async throws(VaultError) -> Void
  /// Called in addition before a finger is enrolled, or the store takes over fprintd's fingers.
  package var enrolment: @Sendable () async throws(VaultError) -> Void
  /// Called in addition before the first finger is enrolled, and before the recovery key is replaced.
  package var owner: @Sendable (OwnersChange) async throws(VaultError) -> Void

  package init(
    change: @escaping @Sendable () async throws(VaultError) -> Void,
    enrolment: @escaping @Sendable () async throws(VaultError) -> Void,
    owner: @escaping @Sendable (OwnersChange) async throws(VaultError) -> Void
  ) {
    self.change = change
    self.enrolment = enrolment
    self.owner = owner
  }
}
