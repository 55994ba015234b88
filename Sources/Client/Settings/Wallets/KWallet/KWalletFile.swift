internal import SecretModel

/// Checks a wallet's files without its key. Check them before starting the daemon: it makes a new wallet if the file is
/// missing, and accepts a key derived in another way.
package enum KWalletFile {
  /// Refuses a file that is missing, not a wallet, or not encrypted with a key derived from a password and the salt.
  package static func requireSealed(_ places: KWalletPlaces) throws(WalletError) {
    let head = Array(try PrivateFile.read(places.file).prefix(16))
    guard head.count == 16, head.starts(with: Array("KWALLET\n\r\0\r\n".utf8)) else {
      throw .damaged(places.file, why: "KWallet has not written it")
    }
    // The version, major and minor; the cipher (3: Blowfish in CBC mode, 2: GPG); the hash (2: PBKDF2 with SHA-512).
    switch Array(head[12...]) {
    case [0, 1, 3, 2]: break
    case [0, 1, 2, head[15]]: throw .unsupported(places.file, why: "it is encrypted with a key of GPG, not a password")
    case [0, 1, head[14], 0]:
      throw .unsupported(places.file, why: "it is of the older form, which KWallet's own module cannot open either")
    default: throw .unsupported(places.file, why: "it is of a form that is not known")
    }
    _ = try salt(of: places)
  }

  /// The salt from which, with the password, the wallet's key is derived.
  package static func salt(of places: KWalletPlaces) throws(WalletError) -> [UInt8] {
    let salt = try PrivateFile.read(places.salt)
    guard salt.count == WalletKey.saltCount else {
      throw .damaged(places.salt, why: "it has \(salt.count) bytes instead of \(WalletKey.saltCount)")
    }
    return salt
  }
}
