import Keys
package import SecureMemory

extension StoreSnapshot {
  /// The public half of the passcode's pair; nil while no passcode is set.
  package func passcodePublicKey() throws -> [UInt8]? {
    try slot(.passcodePublicKey)?.parameters
  }

  /// The passcode key, unwrapped with the recovery key; nil where no passcode is set.
  package func passcodeKey(byRecovery recoveryKey: borrowing SecretBytes)
    throws -> SecretBytes?
  {
    guard let slot = try slot(.passcodeKeyByRecovery) else { return nil }
    do {
      let own = try DerivedPair.recovery.privateKey(of: recoveryKey, store.keys.databaseID)
      return try slot.unwrap(under: X25519.sharedSecret(own, with: slot.parameters), databaseID: store.keys.databaseID)
    } catch {
      throw VaultError(keys: error)
    }
  }

  /// The recovery key's public key, to seal a new passcode key without asking for the recovery key.
  package func recoveryPublicKey(_ passcodeKey: borrowing SecretBytes)
    throws -> [UInt8]
  {
    guard let slot = try slot(.recoveryPublicKey) else {
      throw VaultError.storeDamaged("the \(Slot.Name.recoveryPublicKey.text) slot is gone")
    }
    do {
      return try slot.unwrap(under: passcodeKey, databaseID: store.keys.databaseID).withUnsafeBytes { Array($0) }
    } catch {
      throw VaultError(keys: error)
    }
  }
}

extension StoreTransaction {
  /// Stores a new passcode key in place of an older one: wrapped under the passcode, sealed for the recovery key, and
  /// with its public key for adding items.
  package func putPasscodeKey(
    _ key: borrowing SecretBytes, under locked: LockedPasscode, recoveryPublicKey: [UInt8]
  ) throws {
    let id = store.keys.databaseID
    do {
      try put(
        Slot(.passcode, wrapping: key, under: locked.key.bytes, databaseID: id, parameters: locked.parameters))
      let own = try Random.key()
      try put(
        Slot(
          .passcodeKeyByRecovery, wrapping: key, under: X25519.sharedSecret(own, with: recoveryPublicKey),
          databaseID: id, parameters: X25519.publicKey(of: own)))
      try put(
        Slot(.recoveryPublicKey, wrapping: SecretBytes(copying: recoveryPublicKey.span), under: key, databaseID: id))
      try put(
        Slot(name: .passcodePublicKey, parameters: try DerivedPair.passcode.publicKey(of: key, id), box: []))
    } catch let error as KeysError {
      throw VaultError(keys: error)
    }
    if try slot(.classKey(.passcodeSet)) == nil {
      try putClassKey(.passcodeSet)
    }
  }
}
