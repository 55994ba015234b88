internal import Keys
package import SecretModel
package import SecureMemory
import VaultStore

extension WalletKey {
  /// The key that KWallet derives from a wallet's password and the salt beside the wallet. Needs no store.
  ///
  /// - Throws: `invalidRequest` for an empty password or a salt of another length.
  package static func derive(
    from password: borrowing SecretBytes, salt: [UInt8]
  ) throws(VaultError) -> SecretBytes {
    guard salt.count == saltCount else {
      throw .invalidRequest("the salt of a wallet has \(saltCount) bytes")
    }
    guard !password.isEmpty else { throw .invalidRequest("a wallet's password is not empty") }
    do {
      return try PBKDF2.sha512(
        password: password, salt: salt, rounds: rounds, count: byteCount)
    } catch {
      throw VaultError(cause: error)
    }
  }
}
