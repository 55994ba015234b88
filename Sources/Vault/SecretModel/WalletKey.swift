/// KWallet's derivation of a wallet's key from its password (`kwallet_hash` of kwallet-pam: PBKDF2 with HMAC-SHA512).
package enum WalletKey {
  /// The length of the key, in bytes.
  package static let byteCount = 56
  /// The length of the salt file beside the wallet, in bytes.
  package static let saltCount = 56
  package static let rounds = 50_000
}
