import GRDB
import Keys
import SecureMemory

// Adding an item never asks for the passcode, yet the item's key must hang on it: the passcode key gives a private key
// of X25519, whose public half stands in a slot. Whoever adds agrees on a secret with that; whoever reads needs the
// passcode (docs/decisions/0012).
enum PasscodePair {
  static func privateKey(_ passcodeKey: borrowing SecretBytes, _ databaseID: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.hkdf(key: passcodeKey, salt: databaseID, info: Array("whorl passcode X25519".utf8))
  }
}

extension Store {
  /// The public half; nil while no passcode is set.
  func passcodePublicKey(_ db: Database, _ authority: Authority) throws -> [UInt8]? {
    try slot(.passcodePublicKey, db, authority)?.parameters
  }

  func putPasscodePublicKey(_ passcodeKey: borrowing SecretBytes, _ db: Database, _ authority: inout Authority) throws {
    do {
      let own = try PasscodePair.privateKey(passcodeKey, keys.databaseID)
      try put(
        Slot(name: .passcodePublicKey, parameters: try X25519.publicKey(of: own), box: []), db, &authority)
    } catch let error as KeysError {
      throw VaultError(keys: error)
    }
  }

  /// What a wrapping's share agreed on with the passcode.
  func passcodeShare(_ share: [UInt8], _ passcodeKey: borrowing SecretBytes) throws(KeysError) -> SecretBytes {
    try X25519.sharedSecret(try PasscodePair.privateKey(passcodeKey, keys.databaseID), with: share)
  }
}
