package import SecureMemory
package import VaultStore

/// The passcode key, and the slot that it came from.
package struct ProvenPasscode {
  package let key: SharedSecret
  /// The digest of the passcode's slot.
  let slot: [UInt8]

  /// Throws if the passcode was changed or removed since.
  package func requireCurrent(_ snapshot: StoreSnapshot) throws {
    guard try snapshot.slot(.passcode)?.digest() == slot else {
      throw VaultError.busy("the passcode was changed meanwhile")
    }
  }
}

/// The key of the recovery slot, and that slot.
package struct ProvenRecoveryKey {
  package let key: SharedSecret
  /// The digest of the recovery slot.
  let slot: [UInt8]

  /// Throws if the recovery key was replaced since.
  package func requireCurrent(_ snapshot: StoreSnapshot) throws {
    guard try snapshot.slot(.recovery)?.digest() == slot else {
      throw VaultError.busy("the recovery key was replaced meanwhile")
    }
  }

  /// Throws also if a passcode was set since, because the recovery key alone is then not enough.
  func requireCurrentAlone(_ snapshot: StoreSnapshot) throws {
    try requireCurrent(snapshot)
    guard try snapshot.slot(.passcode) == nil else { throw VaultError.busy("a passcode was set meanwhile") }
  }
}
