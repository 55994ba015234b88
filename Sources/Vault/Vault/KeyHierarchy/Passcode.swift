import Keys
import SecureMemory

/// A new passcode after scrypt, with the parameters that made it.
struct StretchedPasscode {
  let parameters: Scrypt.Parameters
  let key: SecretBox
}

extension Vault {
  /// Bytes of the shortest and longest passcode.
  static let passcodeLengths = 4...1024

  static func checkPasscode(_ passcode: borrowing SecretBytes) throws(VaultError) {
    guard passcode.count >= passcodeLengths.lowerBound else {
      throw .invalidPasscode("it is shorter than \(passcodeLengths.lowerBound) characters")
    }
    guard passcode.count <= passcodeLengths.upperBound else {
      throw .invalidPasscode("it is longer than \(passcodeLengths.upperBound) bytes")
    }
  }

  /// A new passcode or password through scrypt, with a new salt.
  static func stretchNew(_ passcode: SecretBox, _ scrypt: ScryptQueue, for user: UInt32, _ floor: Scrypt.Floor)
    async throws(VaultError) -> StretchedPasscode
  {
    let parameters: Scrypt.Parameters
    do {
      parameters = try .fresh(floor: floor)
    } catch {
      throw VaultError(keys: error)
    }
    let turn = try await scrypt.turn(for: user)
    return StretchedPasscode(parameters: parameters, key: try await turn.stretch(passcode, parameters, floor))
  }

  func stretchNew(_ passcode: SecretBox) async throws(VaultError) -> StretchedPasscode {
    try await Self.stretchNew(passcode, scrypt, for: store.owner, store.floor)
  }
}

extension Moment {
  /// The passcode key out of its recovery slot; nil where no passcode is set.
  func passcodeKey(byRecovery recoveryKey: borrowing SecretBytes)
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

  /// For whom a new passcode key is sealed beside the passcode, when the recovery key is not at hand.
  func recoveryPublicKey(_ passcodeKey: borrowing SecretBytes)
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

extension Change {
  /// Puts a new passcode key in place of any older one: under the passcode, for the recovery key, and its public half for
  /// whoever adds items.
  func putPasscodeKey(
    _ key: borrowing SecretBytes, under stretched: StretchedPasscode, recoveryPublicKey: [UInt8]
  ) throws {
    let id = store.keys.databaseID
    do {
      try put(
        Slot(
          .passcode, wrapping: key, under: stretched.key.secret, databaseID: id,
          parameters: stretched.parameters.encoded))
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
