import Keys
package import Primitives
package import SecretModel

// The private keys with which this machine opens the secrets that its circle shares: one for each class, derived from
// the key of the class, so that it is open exactly while the class is.
extension StoreSnapshot {
  /// Nil for `passcode-set` while no passcode is set.
  ///
  /// - Throws: `notUnlocked` while the class is closed.
  package func circleClassKey(_ accessibility: Accessibility) throws -> SecretBytes? {
    guard let key = try classKey(accessibility) else { return nil }
    do {
      return try DerivedPair.circleClass.privateKey(of: key, store.keys.databaseID)
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// The public half, which others encrypt to. It is known while the login sessions are locked, too, so that a machine
  /// that joins then gets what it can open later. Nil for `passcode-set` while no passcode is set.
  ///
  /// - Throws: `notUnlocked` before the first unlock.
  package func circleClassPublicKey(_ accessibility: Accessibility) throws -> [UInt8]? {
    guard let key = try classKeyWhileLocked(accessibility) else { return nil }
    do {
      return try DerivedPair.circleClass.publicKey(of: key, store.keys.databaseID)
    } catch {
      throw VaultError(cause: error)
    }
  }
}

// The private key with which this machine opens what its circle shares under the passcode. It stays the same while the
// passcode changes, so that no other machine has to encrypt anything again.
extension StoreSnapshot {
  /// Nil if there is none, or if it was sealed for another passcode key.
  package func circlePasscodeKey(with passcodeKey: borrowing SecretBytes) throws -> SecretBytes? {
    guard let slot = try slot(.circlePasscodeKey) else { return nil }
    do {
      let own = try DerivedPair.passcode.privateKey(of: passcodeKey, store.keys.databaseID)
      return try slot.unwrap(under: X25519.sharedSecret(own, with: slot.parameters), databaseID: store.keys.databaseID)
    } catch .authenticationFailed {
      return nil
    } catch {
      throw VaultError(cause: error)
    }
  }

  package func hasCirclePasscodeKey() throws -> Bool { try slot(.circlePasscodeKey) != nil }
}

extension StoreTransaction {
  /// Stores a new key. Asks for nothing, since it is sealed for a public key.
  ///
  /// - Parameter publicKey: of the passcode's pair.
  package func putCirclePasscodeKey(_ key: borrowing SecretBytes, for publicKey: [UInt8]) throws {
    do {
      let own = try Random.key()
      try put(
        Slot(
          .circlePasscodeKey, wrapping: key, under: X25519.sharedSecret(own, with: publicKey),
          databaseID: store.keys.databaseID, parameters: X25519.publicKey(of: own)))
    } catch let error as KeysError {
      throw VaultError(cause: error)
    }
  }
}
