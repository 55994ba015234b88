internal import COpenSSL
internal import SecureMemory

/// Owns an `EVP_PKEY` and with it libcrypto's copy of the key. libcrypto wipes that copy when it frees it.
///
/// `@unchecked Sendable`: the key is immutable, and every operation uses its own context.
final class KeyHandle: @unchecked Sendable {
  /// The `EVP_PKEY *`. Valid as long as this object exists.
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Makes a context for one operation with this key.
  func context() throws(KeysError) -> OperationContext {
    // Takes its own reference to the key. The result is transfer full.
    guard let context = EVP_PKEY_CTX_new_from_pkey(LibraryContext.shared.pointer, pointer, nil) else {
      throw .drainLibrary("a key operation")
    }
    return OperationContext(taking: context)
  }

  /// The result of Diffie-Hellman without key derivation, of `count` bytes.
  func sharedSecret(with peer: KeyHandle, count: Int) throws(KeysError) -> SecretBytes {
    let context = try context()
    // Takes its own reference to the peer's key. The last argument, 1, makes it validate that key.
    guard EVP_PKEY_derive_init(context.pointer) == 1, EVP_PKEY_derive_set_peer_ex(context.pointer, peer.pointer, 1) == 1
    else {
      _ = KeysError.drainLibrary("key agreement")
      throw .badParameters("the two keys cannot be used together")
    }
    var secret = SecretBytes(count: count)
    var written = count
    let result = secret.withUnsafeMutableBytes {
      // Writes at most `written` bytes into the borrowed memory.
      EVP_PKEY_derive(context.pointer, $0.bindMemory(to: UInt8.self).baseAddress, &written)
    }
    guard result == 1, written == count else {
      _ = KeysError.drainLibrary("key agreement")
      throw .badParameters("the public key gives no shared secret")
    }
    return secret
  }
}

/// Owns an `EVP_PKEY_CTX`, for one operation with a key.
struct OperationContext: ~Copyable {
  /// The `EVP_PKEY_CTX *`. Valid as long as this value exists.
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit { EVP_PKEY_CTX_free(pointer) }
}
