internal import COpenSSL
package import SecureMemory

/// HMAC-SHA256 (RFC 2104). Stops the process if libcrypto cannot compute it, as ``Digest`` does.
package enum MAC {
  package static let count = 32

  package static func hmacSHA256(key: borrowing SecretBytes, _ bytes: [UInt8]) -> [UInt8] {
    precondition(!key.isEmpty, "an empty key authenticates nothing")
    let algorithm = Algorithms.hmac.required()
    var mac = [UInt8](repeating: 0, count: count)
    let result = key.withUnsafeBytes { key in
      bytes.withUnsafeBytes { bytes in
        mac.withUnsafeMutableBufferPointer {
          // Borrows everything for the call. `mac` has the 32 bytes that the call writes.
          whorl_hmac_sha256(
            algorithm, key.baseAddress, key.count, bytes.baseAddress, bytes.count, $0.baseAddress)
        }
      }
    }
    guard result == 1 else { fatalError("libcrypto cannot compute HMAC-SHA256") }
    return mac
  }

  /// Whether `mac` is the MAC of `bytes`. The time does not depend on how many bytes are right.
  package static func verify(_ mac: [UInt8], key: borrowing SecretBytes, _ bytes: [UInt8]) -> Bool {
    let expected = hmacSHA256(key: key, bytes)
    guard mac.count == expected.count else { return false }
    // Borrows both for the call.
    return CRYPTO_memcmp(mac, expected, expected.count) == 0
  }
}
