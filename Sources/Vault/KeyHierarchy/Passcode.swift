import GRDB
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

  /// scrypt takes most of a second: it runs off the actor, which stays free to hear a cancel.
  @concurrent
  static func stretch(_ passcode: SecretBox, _ parameters: Scrypt.Parameters, _ floor: Scrypt.Floor)
    async throws(VaultError) -> SecretBox
  {
    do {
      return SecretBox(try Scrypt.derive(passcode: passcode.secret, parameters: parameters, floor: floor))
    } catch {
      throw VaultError(keys: error)
    }
  }

  static func stretchNew(_ passcode: SecretBox?, _ floor: Scrypt.Floor) async throws(VaultError) -> StretchedPasscode? {
    guard let passcode else { return nil }
    let parameters: Scrypt.Parameters
    do {
      parameters = try .fresh(floor: floor)
    } catch {
      throw VaultError(keys: error)
    }
    return StretchedPasscode(parameters: parameters, key: try await stretch(passcode, parameters, floor))
  }
}

extension Store {
  /// Sets or changes the passcode: root key and passcode key are wrapped anew, nothing else is touched.
  func putPasscode(
    _ stretched: StretchedPasscode, _ passcodeKey: borrowing SecretBytes, _ db: Database, _ authority: inout Authority
  ) throws {
    let parameters = stretched.parameters.encoded
    try put(
      Slot(
        .passcode, wrapping: keys.root, under: stretched.key.secret, databaseID: keys.databaseID,
        parameters: parameters), db, &authority)
    try put(
      Slot(
        .passcodeKeyByPasscode, wrapping: passcodeKey, under: stretched.key.secret, databaseID: keys.databaseID,
        parameters: parameters), db, &authority)
    try putPasscodePublicKey(passcodeKey, db, &authority)
    if try slot(.classKey(.passcodeSet), db, authority) == nil {
      try putClassKey(.passcodeSet, db, &authority)
    }
  }
}
