import KeySchemes
import Keys
import Primitives
package import SecretModel
import VaultStore

/// The public keys of a member of a circle: of a machine, and of its recovery key.
package struct Member: Codable, Sendable, Hashable {
  /// Verifies the machine's signatures (Ed25519).
  package let signingKey: JSONBytes
  private let encrypt: String
  private let recover: String
  /// The salt with which the private half of ``recovery`` is derived from the recovery key of the machine's store.
  package let salt: JSONBytes

  private enum CodingKeys: String, CodingKey {
    case signingKey = "sign"
    case encrypt, salt
    case recover = "recovery"
  }

  package init(_ keys: MemberKeys, recovery: AgePublicKey, salt: [UInt8]) {
    signingKey = JSONBytes(keys.signingKey)
    encrypt = keys.encryption.publicKey.description
    recover = recovery.description
    self.salt = JSONBytes(salt)
  }

  /// A digest of the machine's keys, which never change.
  package var id: MemberID {
    get throws(VaultError) {
      var keys = CanonicalEncoding()
      keys.append(tag: 1, "whorl-sync member")
      keys.append(tag: 2, signingKey.bytes)
      keys.append(tag: 3, encrypt)
      let digest = Digest.sha256(keys.bytes).prefix(MemberID.byteCount)
      guard let id = MemberID(Hexadecimal.text(of: digest)) else { throw .internalError("a member has no identifier") }
      return id
    }
  }

  /// The machine's public key for files.
  package var recipient: AgePublicKey { get throws(VaultError) { try Self.key(encrypt) } }

  /// The recovery key's public key for files.
  package var recovery: AgePublicKey { get throws(VaultError) { try Self.key(recover) } }

  private static func key(_ text: String) throws(VaultError) -> AgePublicKey {
    guard let key = AgePublicKey(parsing: text) else { throw .fileUnreadable("a member has no public key") }
    return key
  }
}
