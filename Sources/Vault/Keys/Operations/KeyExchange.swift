// Shared secrets of two key pairs.

internal import COpenSSL
package import Primitives

extension PrivateKey {
  /// The secret that both sides compute from their own private key and the other's public key. Throws
  /// ``KeysError/badParameters(_:)`` for keys on different curves or on none of these, and for a size outside 1 to 65536. Plain
  /// Diffie-Hellman ignores size and info.
  package borrowing func exchange(
    with peer: PublicKey, _ scheme: ExchangeScheme, requestedSize: Int, sharedInfo: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    guard scheme.supports(algorithm) else { throw .badParameters("the two keys cannot be used together") }
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

/// Diffie-Hellman on Curve25519 (RFC 7748). The shared secret is not uniformly distributed, so pass it through ``KDF``
/// before using it as a key.
package enum X25519 {
  /// The length of a private key, a public key and a shared secret, in bytes.
  package static let count = RawKeyForm.keyCount

  /// The public key of a private key, which is any 32 random bytes, as from ``Random/key(_:)``.
  package static func publicKey(of privateKey: borrowing SecretBytes) throws(KeysError) -> [UInt8] {
    try RawKeyForm.x25519.privateKey(privateKey).publicForm
  }

  /// The secret that both sides compute from their own private key and the other's public key. A public key of small
  /// order, which gives zeros with every private key, is ``KeysError/badParameters(_:)``.
  package static func sharedSecret(
    _ privateKey: borrowing SecretBytes, with publicKey: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    try sharedSecret(
      RawKeyForm.x25519.privateKey(privateKey).handle, with: RawKeyForm.x25519.publicKey(publicKey).1)
  }

  static func sharedSecret(_ key: KeyHandle, with peer: KeyHandle) throws(KeysError) -> SecretBytes {
    let secret = try key.sharedSecret(with: peer, count: count)
    // libcrypto refuses an all-zero result too, but the vault's security must not depend on that.
    guard !secret.constantTimeEquals(SecretBytes(count: count)) else {
      throw .badParameters("the public key gives no shared secret")
    }
    return secret
  }
}

/// Diffie-Hellman in the second Oakley group (RFC 2409), which the Secret Service API prescribes. The group has 1024
/// bits: it protects against programs that read the messages, but not against later decryption.
package struct Oakley2: ~Copyable {
  /// The length of a public key and of the shared secret, in bytes.
  package static let count = 128

  private let exponent: SecretBytes
  /// The public key, with leading zeros.
  package let publicKey: [UInt8]

  /// Makes a key pair.
  package init() throws(KeysError) {
    let exponent = try Random.key(Self.count)
    let power = try Self.power(of: nil, exponent)
    publicKey = power.withUnsafeBytes { Array($0) }
    self.exponent = exponent
  }

  /// The secret that both sides compute, with leading zeros.
  ///
  /// - Throws: ``KeysError/badParameters(_:)`` for a public key that leads to a known secret: 0, 1, the prime minus 1
  ///   and above.
  package borrowing func sharedSecret(with publicKey: borrowing SecretBytes) throws(KeysError) -> SecretBytes {
    let peer = try publicKey.withUnsafeBytes { bytes throws(KeysError) in try BigNumber(bytes) }
    // Borrows the number.
    guard whorl_oakley2_is_public_key(peer.pointer) == 1 else {
      throw .badParameters("the public key gives no shared secret")
    }
    return try Self.power(of: peer, exponent)
  }

  /// The power of a number, or with nil of the group's generator.
  private static func power(of base: BigNumber?, _ exponent: borrowing SecretBytes) throws(KeysError) -> SecretBytes {
    let exponent = try exponent.withUnsafeBytes { bytes throws(KeysError) in try BigNumber(bytes) }
    let result = try BigNumber()
    // Borrows the numbers and sets the result.
    guard whorl_oakley2_power(result.pointer, base?.pointer, exponent.pointer) == 1 else {
      throw .drainLibrary("Diffie-Hellman")
    }
    var power = SecretBytes(count: count)
    guard power.withUnsafeMutableBytes({ result.write(to: $0) }) else { throw .drainLibrary("Diffie-Hellman") }
    return power
  }
}
