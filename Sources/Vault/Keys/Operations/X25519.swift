internal import COpenSSL
package import SecureMemory

/// Diffie-Hellman on Curve25519 (RFC 7748). The shared secret is not uniformly distributed, so pass it through ``KDF``
/// before using it as a key.
package enum X25519 {
  /// The length of a private key, a public key and a shared secret, in bytes.
  package static let count = 32

  /// The public key of a private key, which is any 32 random bytes, as from ``Random/key(_:)``.
  package static func publicKey(of privateKey: borrowing SecretBytes) throws(KeysError) -> [UInt8] {
    let key = try handle(of: privateKey)
    var bytes = [UInt8](repeating: 0, count: count)
    var written = count
    // Writes at most `written` bytes into the borrowed buffer.
    guard EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &written) == 1, written == count else {
      throw .drainLibrary("X25519")
    }
    return bytes
  }

  /// The secret that both sides compute from their own private key and the other's public key. A public key of small
  /// order, which gives zeros with every private key, is ``KeysError/badParameters(_:)``.
  package static func sharedSecret(
    _ privateKey: borrowing SecretBytes, with publicKey: [UInt8]
  ) throws(KeysError) -> SecretBytes {
    guard publicKey.count == count else { throw .badParameters("an X25519 public key is 32 bytes") }
    let key = try handle(of: privateKey)
    // Copies the borrowed bytes; the result is transfer full.
    guard let peer = EVP_PKEY_new_raw_public_key_ex(LibraryContext.shared.pointer, "X25519", nil, publicKey, count)
    else { throw .drainLibrary("X25519") }
    let secret = try key.sharedSecret(with: KeyHandle(taking: peer), count: count)
    // libcrypto refuses an all-zero result too, but the vault's security must not depend on that.
    guard !secret.constantTimeEquals(SecretBytes(count: count)) else {
      throw .badParameters("the public key gives no shared secret")
    }
    return secret
  }

  private static func handle(of privateKey: borrowing SecretBytes) throws(KeysError) -> KeyHandle {
    guard privateKey.count == count else { throw .badParameters("an X25519 private key is 32 bytes") }
    let pointer = privateKey.withUnsafeBytes {
      // Copies the borrowed bytes into memory that libcrypto wipes when it frees the key. The result is transfer full.
      EVP_PKEY_new_raw_private_key_ex(
        LibraryContext.shared.pointer, "X25519", nil, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
    }
    guard let pointer else { throw .drainLibrary("X25519") }
    return KeyHandle(taking: pointer)
  }
}
