import Keys
package import Primitives
package import SecretModel
import VaultStore

extension Circle.Rescue {
  /// Opens a circle with the recovery key of one of its machines.
  ///
  /// - Throws: `wrongRecoveryKey`, `malformedRecoveryKey`.
  package init(_ chain: [CircleRecord], recoveryKey text: borrowing SecretBytes) throws(VaultError) {
    guard let record = chain.last else { throw .fileUnreadable("there is no record of your computers") }
    let slotKey = try RecoveryKey.slotKey(of: text)
    var found: EncryptedFile.KeyPair?
    for member in record.members {
      let key = try EncryptedFile.KeyPair(recovery: slotKey, salt: member.salt.bytes)
      if try member.recovery == key.publicKey { found = key }
    }
    guard let found else { throw .wrongRecoveryKey }
    self.init(chain: chain, key: found, contents: try record.contents(with: found))
  }
}

extension EncryptedFile.KeyPair {
  private static let agePrefix = "age-secret-key-"

  /// The private key in age's text format.
  package var identity: SecretBytes {
    var text = SecretBytes(count: Bech32.encodedCount(X25519.count, prefix: Self.agePrefix))
    text.withUnsafeMutableBytes { target in
      privateKey.bytes.withUnsafeBytes { Bech32.encode($0, prefix: Self.agePrefix, into: target) }
      // age writes private keys in upper case.
      for place in target.indices where (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(target[place]) {
        target[place] -= 32
      }
    }
    return text
  }

  /// Derives the key pair of a recovery key.
  ///
  /// - Parameter slotKey: ``RecoveryKey/slotKey(of:)``.
  package init(recovery slotKey: borrowing SecretBytes, salt: [UInt8]) throws(VaultError) {
    let privateKey: SharedSecret
    do throws(KeysError) {
      privateKey = SharedSecret(try DerivedPair.recovery.privateKey(of: slotKey, salt))
    } catch {
      throw VaultError(cause: error)
    }
    try self.init(privateKey: privateKey)
  }

  package init(privateKey: SharedSecret) throws(VaultError) {
    let publicKey: [UInt8]
    do throws(KeysError) {
      publicKey = try X25519.publicKey(of: privateKey.bytes)
    } catch {
      throw VaultError(cause: error)
    }
    guard let key = AgePublicKey(bytes: publicKey) else { throw .internalError("X25519 gives no public key") }
    self.init(privateKey: privateKey, publicKey: key)
  }
}
