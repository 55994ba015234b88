import Keys
package import Primitives
package import SecretModel
import VaultStore

/// The private keys of a store in a circle: one to decrypt, one to sign. They never leave the vault.
package struct MemberKeys: Sendable {
  /// The length of ``bytes``.
  package static let byteCount = 2 * X25519.count

  package let encryption: EncryptedFile.KeyPair
  private let signing: SharedSecret
  /// The public half of the signing key (Ed25519).
  package let signingKey: [UInt8]

  package static func make() throws(VaultError) -> MemberKeys {
    do throws(KeysError) {
      return try MemberKeys(decryption: Random.key(), signing: Random.key())
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// Reads ``bytes``.
  package init(_ bytes: borrowing SecretBytes) throws(VaultError) {
    let half = X25519.count
    guard bytes.count == 2 * half else { throw .storeDamaged("its keys for sharing have another length") }
    let parts = bytes.withUnsafeBytes { bytes in
      (
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<half]))),
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[half...])))
      )
    }
    do throws(KeysError) {
      try self.init(decryption: parts.0.copy(), signing: parts.1.copy())
    } catch {
      throw VaultError(cause: error)
    }
  }

  private init(decryption: consuming SecretBytes, signing: consuming SecretBytes) throws(KeysError) {
    signingKey = try PrivateKey(stored: signing, family: .ed25519).publicKey.external
    guard let publicKey = AgePublicKey(bytes: try X25519.publicKey(of: decryption)) else {
      throw .library("X25519 gives no public key")
    }
    encryption = EncryptedFile.KeyPair(privateKey: SharedSecret(decryption), publicKey: publicKey)
    self.signing = SharedSecret(signing)
  }

  /// The private keys, one after the other.
  package var bytes: SecretBytes {
    var bytes = SecretBytes(count: Self.byteCount)
    bytes.withUnsafeMutableBytes { target in
      encryption.privateKey.bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[..<X25519.count]).copyMemory(from: $0)
      }
      signing.bytes.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[X25519.count...]).copyMemory(from: $0)
      }
    }
    return bytes
  }

  func sign(_ message: borrowing SecretBytes) throws(VaultError) -> [UInt8] {
    do throws(KeysError) {
      return try PrivateKey(stored: signing.bytes, family: .ed25519).sign(secret: message)
    } catch {
      throw VaultError(cause: error)
    }
  }
}
