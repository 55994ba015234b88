package import Keys
package import SecureMemory

/// X25519 key pairs derived from a key of the hierarchy. With the public half, data can be sealed for the owner of that
/// key without asking for it: adding an item must not ask for the passcode (docs/decisions/0012), and changing the
/// passcode must not ask for the recovery key (docs/decisions/0018).
package enum DerivedPair: String {
  /// The pair of the passcode key.
  case passcode = "whorl passcode X25519"
  /// The pair of the recovery key.
  case recovery = "whorl recovery X25519"

  package func privateKey(of key: borrowing SecretBytes, _ databaseID: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.hkdf(key: key, salt: databaseID, info: Array(rawValue.utf8))
  }

  package func publicKey(of key: borrowing SecretBytes, _ databaseID: [UInt8]) throws(KeysError) -> [UInt8] {
    try X25519.publicKey(of: privateKey(of: key, databaseID))
  }
}
