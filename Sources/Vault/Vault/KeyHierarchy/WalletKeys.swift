internal import Keys
package import SecretModel
package import SecureMemory
import VaultStore

extension Vault {
  /// The key that KWallet derives from a wallet's password and the salt beside the wallet. Needs no store.
  ///
  /// - Throws: `invalidRequest` for an empty password or a salt of another length.
  package static func walletKey(
    from password: borrowing SecretBytes, salt: [UInt8]
  ) throws(VaultError) -> SecretBytes {
    guard salt.count == WalletKey.saltCount else {
      throw .invalidRequest("the salt of a wallet has \(WalletKey.saltCount) bytes")
    }
    guard !password.isEmpty else { throw .invalidRequest("a wallet's password is not empty") }
    do {
      return try PBKDF2.sha512(
        password: password, salt: salt, rounds: WalletKey.rounds, count: WalletKey.byteCount)
    } catch {
      throw VaultError(keys: error)
    }
  }
}
