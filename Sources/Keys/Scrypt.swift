internal import COpenSSL
package import SecureMemory

/// scrypt (RFC 7914): a key from something a person chose.
package enum Scrypt {
  /// What is stored beside whatever the derived key wraps. They come back from a file, so nothing is trusted before
  /// ``Scrypt/derive(passcode:parameters:floor:)`` has checked them.
  package struct Parameters: Sendable, Hashable, Codable {
    /// The cost N is 2^logN.
    package var logN: Int
    /// The block size.
    package var r: Int
    /// The parallelisation.
    package var p: Int
    /// 16 random bytes.
    package var salt: [UInt8]

    package init(logN: Int, r: Int, p: Int, salt: [UInt8]) {
      self.logN = logN
      self.r = r
      self.p = p
      self.salt = salt
    }

    /// The cheapest that `floor` admits, with a fresh salt. At the standard floor a try costs 128 MiB and most of a
    /// second.
    package static func fresh(floor: Floor = .standard) throws(KeysError) -> Parameters {
      Parameters(logN: floor.logN, r: 8, p: 1, salt: try Random.bytes(saltCount))
    }
  }

  /// The least cost that is accepted. Not part of what is stored: a file cannot say how weak it may be.
  package struct Floor: Sendable, Hashable {
    fileprivate let logN: Int

    /// N = 2^17, r = 8, p = 1.
    package static let standard = Floor(logN: 17)

    /// N = 2^4. For tests alone, which cannot wait for a second and 128 MiB each time.
    package static let weakForTests = Floor(logN: 4)
  }

  package static let saltCount = 16

  /// A key of 32 bytes. Parameters under `floor`, or over what one try may cost (1 GiB, logN 20, r 32, p 16), are
  /// ``KeysError/badParameters(_:)``: planted ones can neither weaken a passcode nor exhaust the machine.
  package static func derive(
    passcode: borrowing SecretBytes, parameters: Parameters, floor: Floor = .standard
  ) throws(KeysError) -> SecretBytes {
    guard parameters.logN >= floor.logN, parameters.r >= 8, parameters.p >= 1 else {
      throw .badParameters("scrypt parameters are too weak")
    }
    guard parameters.logN <= 20, parameters.r <= 32, parameters.p <= 16,
      (128 * parameters.r) << parameters.logN <= 1 << 30
    else { throw .badParameters("scrypt parameters ask for too much") }
    guard parameters.salt.count == saltCount else { throw .badParameters("the scrypt salt is not 16 bytes") }
    return try derive(
      passcode: passcode, salt: parameters.salt, n: 1 << UInt64(parameters.logN), r: UInt32(parameters.r),
      p: UInt32(parameters.p), count: 32)
  }

  /// Without the checks: for published vectors, and for the above.
  static func derive(
    passcode: borrowing SecretBytes, salt: [UInt8], n: UInt64, r: UInt32, p: UInt32, count: Int
  ) throws(KeysError) -> SecretBytes {
    let algorithm = try Algorithms.scrypt.get()
    // What libcrypto allocates: N + 2 blocks of 128 r bytes to mix in, and p to mix.
    let memory = 128 * UInt64(r) * (n + 2 + UInt64(p))
    var derived = SecretBytes(count: count)
    let result = passcode.withUnsafeBytes { passcode in
      salt.withUnsafeBytes { salt in
        derived.withUnsafeMutableBytes {
          // Borrows everything for the call; libcrypto wipes its copy of the passcode and its blocks.
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
