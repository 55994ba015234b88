internal import COpenSSL
package import KeySchemes
package import SecureMemory

extension PrivateKey {
  /// The secret that both sides compute from their own private key and the other's public key. Throws
  /// ``KeysError/badParameters(_:)`` for keys on different curves and for a size outside 1 to 65536. Plain
  /// Diffie-Hellman ignores size and info.
  package borrowing func exchange(
    with peer: PublicKey, _ scheme: ExchangeScheme, requestedSize: Int, sharedInfo: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    let secret = try handle.sharedSecret(with: peer.handle, count: algorithm.blockCount)
    switch scheme {
    case .ecdh: return secret
    case .ecdhX963(let hash):
      return try KDF.x963(secret: secret, hash: hash, sharedInfo: sharedInfo, count: requestedSize)
    }
  }
}

extension KDF {
  /// The key derivation of ANSI X9.63 (SEC 1, section 3.6.1): derives `count` bytes (at most 65536) from a shared
  /// secret.
  static func x963(
    secret: borrowing SecretBytes, hash: HashFunction, sharedInfo: [UInt8], count: Int
  ) throws(KeysError) -> SecretBytes {
    guard (1...1 << 16).contains(count) else { throw .badParameters("X9.63 gives 1 to 65536 bytes here") }
    let algorithm = try Algorithms.x963.get()
    var derived = SecretBytes(count: count)
    let result = secret.withUnsafeBytes { secret in
      sharedInfo.withUnsafeBytes { info in
        derived.withUnsafeMutableBytes {
          // Borrows everything for the call. libcrypto wipes its own copy of the secret.
          whorl_x963(
            algorithm, hash.name, secret.baseAddress, secret.count, info.baseAddress, info.count, $0.baseAddress,
            $0.count)
        }
      }
    }
    guard result == 1 else { throw .drainLibrary("X9.63 KDF") }
    return derived
  }
}
