// Keys from other keys and from passcodes: HKDF, PBKDF2 and scrypt.

internal import COpenSSL
package import Primitives

/// HKDF-SHA256 (RFC 5869), which derives keys from keys. Passcodes go through ``Scrypt`` instead.
package enum KDF {
  /// The most bytes of `info`: libcrypto's own limit.
  package static let longestInfo = 32 << 10

  /// Derives `count` bytes (at most 8160) from a key of high entropy.
  package static func hkdf(
    key: borrowing SecretBytes, salt: [UInt8] = [], info: [UInt8], count: Int = 32
  ) throws(KeysError) -> SecretBytes {
    guard !key.isEmpty else { throw .badParameters("HKDF needs a key") }
    // Checked here because libcrypto reports it without a reason.
    guard info.count <= longestInfo else { throw .badParameters("HKDF takes at most 32 KiB of info") }
    guard (1...255 * 32).contains(count) else { throw .badParameters("HKDF gives 1 to 8160 bytes") }
    let algorithm = try Algorithms.hkdf.get()
    var derived = SecretBytes(count: count)
    let result = key.withUnsafeBytes { key in
      salt.withUnsafeBytes { salt in
        info.withUnsafeBytes { info in
          derived.withUnsafeMutableBytes {
            // Borrows everything for the call. libcrypto wipes its own copies of the key.
            whorl_hkdf_sha256(
              algorithm, key.baseAddress, key.count, salt.baseAddress, salt.count, info.baseAddress, info.count,
              $0.baseAddress, $0.count)
          }
        }
      }
    }
    guard result == 1 else { throw .drainLibrary("HKDF") }
    return derived
  }

  /// Derives a key that needs all `parts`, for the one use that `info` names. This is HKDF over the canonical encoding
  /// of the tagged parts.
  package static func wrappingKey(
    from parts: borrowing SecretConcatenation, info: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    guard !parts.isEmpty else { throw .badParameters("a wrapping key needs a part") }
    return try hkdf(key: parts.bytes, info: info)
  }
}

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

/// scrypt (RFC 7914), which derives a key from a passcode.
package enum Scrypt {
  /// The parameters of a derivation, which are stored beside the wrapped key. They are read from a file, so
  /// ``Scrypt/derive(passcode:parameters:floor:)`` checks them before it uses them.
  package struct Parameters: Sendable, Hashable, Codable {
    /// The base-2 logarithm of the cost N.
    package var logN: Int
    /// The block size.
    package var r: Int
    /// The parallelisation.
    package var p: Int
    /// The salt: 16 random bytes.
    package var salt: [UInt8]

    package init(logN: Int, r: Int, p: Int, salt: [UInt8]) {
      self.logN = logN
      self.r = r
      self.p = p
      self.salt = salt
    }

    /// The lowest cost that `floor` allows, with a new random salt. With the standard floor a derivation takes 128 MiB
    /// and most of a second.
    package static func fresh(floor: Floor = .standard) throws(KeysError) -> Parameters {
      Parameters(logN: floor.logN, r: 8, p: 1, salt: try Random.bytes(saltCount))
    }
  }

  /// The lowest cost that is accepted. It is not stored, so a file cannot lower it.
  package struct Floor: Sendable, Hashable {
    fileprivate let logN: Int

    /// N = 2^17, r = 8, p = 1.
    package static let standard = Floor(logN: 17)

    /// N = 2^4. For tests only, which cannot spend a second and 128 MiB on each derivation.
    package static let weakForTests = Floor(logN: 4)
  }

  package static let saltCount = 16

  /// The most that stored parameters may ask for in one attempt: memory times `p`, twice what ``Parameters/fresh(floor:)``
  /// takes. A user can store any parameters with a backup that they have forged, and the service, which runs two attempts
  /// at a time, would be killed at its limit of memory, with the stores of all users.
  private static let costLimit = 256 << 20

  /// Derives a key of 32 bytes. Parameters below `floor` or that cost more than 256 MiB are
  /// ``KeysError/badParameters(_:)``, so that manipulated parameters neither weaken a passcode nor exhaust the service.
  package static func derive(
    passcode: borrowing SecretBytes, parameters: Parameters, floor: Floor = .standard
  ) throws(KeysError) -> SecretBytes {
    guard parameters.logN >= floor.logN, parameters.r >= 8, parameters.p >= 1 else {
      throw .badParameters("scrypt parameters are too weak")
    }
    guard parameters.logN <= 20, parameters.r <= 32, parameters.p <= 16,
      (128 * parameters.r * parameters.p) << parameters.logN <= costLimit
    else { throw .badParameters("scrypt parameters ask for too much") }
    guard parameters.salt.count == saltCount else { throw .badParameters("the scrypt salt is not 16 bytes") }
    return try derive(
      passcode: passcode, salt: parameters.salt, n: 1 << UInt64(parameters.logN), r: UInt32(parameters.r),
      p: UInt32(parameters.p), count: 32)
  }

  /// Derives a key of 32 bytes from a passphrase with r = 8 and p = 1, for formats of others. The caller limits the cost:
  /// a derivation takes 2^(logN + 10) bytes.
  package static func derive(
    passphrase: borrowing SecretBytes, salt: [UInt8], logN: Int
  ) throws(KeysError) -> SecretBytes {
    guard (1...20).contains(logN) else { throw .badParameters("scrypt parameters ask for too much") }
    return try derive(passcode: passphrase, salt: salt, n: 1 << UInt64(logN), r: 8, p: 1, count: 32)
  }

  /// Derives without these checks. For published vectors and for the function above.
  static func derive(
    passcode: borrowing SecretBytes, salt: [UInt8], n: UInt64, r: UInt32, p: UInt32, count: Int
  ) throws(KeysError) -> SecretBytes {
    let algorithm = try Algorithms.scrypt.get()
    // The memory that libcrypto allocates: N + 2 + p blocks of 128 r bytes.
    let memory = 128 * UInt64(r) * (n + 2 + UInt64(p))
    var derived = SecretBytes(count: count)
    let result = passcode.withUnsafeBytes { passcode in
      salt.withUnsafeBytes { salt in
        derived.withUnsafeMutableBytes {
          // Borrows everything for the call. libcrypto wipes its copy of the passcode and its work memory.
          whorl_scrypt(
            algorithm, passcode.baseAddress, passcode.count, salt.baseAddress, salt.count, n, r, p, memory,
            $0.baseAddress, $0.count)
        }
      }
    }
    guard result == 1 else { throw .drainLibrary("scrypt") }
    return derived
  }
}
