// Digests and message authentication codes.

internal import COpenSSL
package import Primitives

/// SHA-256. Stops the process if libcrypto cannot compute it, because the store cannot work without it.
package enum Digest {
  package static let count = 32

  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    let algorithm = Algorithms.sha256.required()
    var digest = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeBytes { bytes in
      digest.withUnsafeMutableBufferPointer {
        // Borrows input and output for the call.
        EVP_Digest(bytes.baseAddress, bytes.count, $0.baseAddress, nil, algorithm, nil)
      }
    }
    guard result == 1 else { fatalError("libcrypto cannot compute SHA-256") }
    return digest
  }

  /// The digest of a secret, which is a secret too.
  package static func sha256(secret: borrowing SecretBytes) -> SecretBytes {
    let algorithm = Algorithms.sha256.required()
    var digest = SecretBytes(count: count)
    let result = secret.withUnsafeBytes { bytes in
      digest.withUnsafeMutableBytes {
        // Borrows input and output for the call.
        EVP_Digest(
          bytes.baseAddress, bytes.count, $0.bindMemory(to: UInt8.self).baseAddress, nil, algorithm, nil)
      }
    }
    guard result == 1 else { fatalError("libcrypto cannot compute SHA-256") }
    return digest
  }
}

extension HashFunction {
  package func digest(_ bytes: [UInt8]) throws(KeysError) -> [UInt8] {
    let algorithm = try fetched.get()
    var digest = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeBytes { bytes in
      digest.withUnsafeMutableBufferPointer {
        // Borrows input and output for the call. `digest` has the size of the result.
        EVP_Digest(bytes.baseAddress, bytes.count, $0.baseAddress, nil, algorithm, nil)
      }
    }
    guard result == 1 else { throw .drainLibrary(name) }
    return digest
  }

  /// libcrypto's name of the hash function.
  var name: String {
    switch self {
    case .sha1: "SHA1"
    case .sha224: "SHA2-224"
    case .sha256: "SHA2-256"
    case .sha384: "SHA2-384"
    case .sha512: "SHA2-512"
    }
  }

  var fetched: Algorithms.Fetched {
    switch self {
    case .sha1: Algorithms.sha1
    case .sha224: Algorithms.sha224
    case .sha256: Algorithms.sha256
    case .sha384: Algorithms.sha384
    case .sha512: Algorithms.sha512
    }
  }
}

/// HMAC-SHA256 (RFC 2104). Stops the process if libcrypto cannot compute it, as ``Digest`` does.
package enum MAC {
  package static let count = 32

  package static func hmacSHA256(key: borrowing SecretBytes, _ bytes: [UInt8]) -> [UInt8] {
    precondition(!key.isEmpty, "an empty key authenticates nothing")
    guard let mac = key.withUnsafeBytes({ hmac(Algorithms.hmacSHA256.required(), .sha256, key: $0, bytes) })
    else {
      fatalError("libcrypto cannot compute HMAC-SHA256")
    }
    return mac
  }

  /// Writes the MAC into memory of the caller, of ``count`` bytes, for one that is a secret itself.
  package static func hmacSHA256(
    key: borrowing SecretBytes, _ bytes: [UInt8], into target: UnsafeMutableRawBufferPointer
  ) {
    precondition(!key.isEmpty && target.count == count)
    let result = key.withUnsafeBytes { key in
      // Borrows everything for the call.
      bytes.withUnsafeBytes { bytes in
        whorl_hmac(
          Algorithms.hmacSHA256.required(), key.baseAddress, key.count, bytes.baseAddress, bytes.count,
          target.bindMemory(to: UInt8.self).baseAddress, target.count)
      }
    }
    guard result == 1 else { fatalError("libcrypto cannot compute HMAC-SHA256") }
  }

  /// HMAC with another hash function and a public key, as OpenSSH hashes host names. Nil if libcrypto cannot compute
  /// it.
  package static func hmac(_ hash: HashFunction, publicKey key: [UInt8], _ bytes: [UInt8]) -> [UInt8]? {
    guard let context = whorl_hmac_context(Algorithms.hmac.required(), hash.name) else { return nil }
    defer { EVP_MAC_CTX_free(context) }
    return key.withUnsafeBytes { hmac(context, hash, key: $0, bytes) }
  }

  /// HMAC with a secret key, which is a secret too.
  package static func hmac(_ hash: HashFunction, key: borrowing SecretBytes, _ bytes: [UInt8]) throws(KeysError)
    -> SecretBytes
  {
    guard !key.isEmpty else { throw .badParameters("HMAC needs a key") }
    guard let context = whorl_hmac_context(Algorithms.hmac.required(), hash.name) else { throw .drainLibrary("HMAC") }
    defer { EVP_MAC_CTX_free(context) }
    var mac = SecretBytes(count: hash.count)
    let result = key.withUnsafeBytes { key in
      bytes.withUnsafeBytes { bytes in
        mac.withUnsafeMutableBytes {
          // Borrows everything for the call. `mac` has the size of a digest.
          whorl_hmac(
            context, key.baseAddress, key.count, bytes.baseAddress, bytes.count,
            $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
        }
      }
    }
    guard result == 1 else { throw .drainLibrary("HMAC") }
    return mac
  }

  /// - Parameter unkeyed: a context for the hash function, borrowed for the call.
  private static func hmac(
    _ unkeyed: OpaquePointer, _ hash: HashFunction, key: UnsafeRawBufferPointer, _ bytes: [UInt8]
  ) -> [UInt8]? {
    var mac = [UInt8](repeating: 0, count: hash.count)
    let result = bytes.withUnsafeBytes { bytes in
      mac.withUnsafeMutableBufferPointer {
        // Borrows everything for the call. `mac` has the size of a digest.
        whorl_hmac(
          unkeyed, key.baseAddress, key.count, bytes.baseAddress, bytes.count, $0.baseAddress, $0.count)
      }
    }
    return result == 1 ? mac : nil
  }

  /// Whether `mac` is the MAC of `bytes`. The time does not depend on how many bytes are right.
  package static func verify(_ mac: [UInt8], key: borrowing SecretBytes, _ bytes: [UInt8]) -> Bool {
    areEqual(mac, hmacSHA256(key: key, bytes))
  }

  /// Whether two MACs, or the beginnings of two, are the same. The time does not depend on how many bytes are.
  package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    // Borrows both for the call.
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
  }
}
