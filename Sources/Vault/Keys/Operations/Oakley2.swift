internal import COpenSSL
package import SecureMemory

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
