internal import COpenSSL
package import SecureMemory

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
