internal import COpenSSL
package import SecureMemory

/// PBKDF2 with HMAC-SHA512 (RFC 8018), for what other programs encrypt under a password. Whorl's own passcodes go through
/// ``Scrypt``.
package enum PBKDF2 {
  /// Derives `count` bytes from a password.
  package static func sha512(
    password: borrowing SecretBytes, salt: [UInt8], rounds: Int, count: Int
  ) throws(KeysError) -> SecretBytes {
    guard !password.isEmpty, !salt.isEmpty else { throw .badParameters("PBKDF2 needs a password and a salt") }
    guard rounds > 0, count > 0 else { throw .badParameters("PBKDF2 needs a number of rounds and of bytes") }
    let algorithm = try Algorithms.pbkdf2.get()
    var derived = SecretBytes(count: count)
    let result = password.withUnsafeBytes { password in
      salt.withUnsafeBytes { salt in
        derived.withUnsafeMutableBytes {
          // Borrows everything for the call. libcrypto wipes its copy of the password.
          whorl_pbkdf2_sha512(
            algorithm, password.baseAddress, password.count, salt.baseAddress, salt.count, UInt64(rounds),
            $0.baseAddress, $0.count)
        }
      }
    }
    guard result == 1 else { throw .drainLibrary("PBKDF2") }
    return derived
  }
}
