internal import COpenSSL
package import SecureMemory

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
