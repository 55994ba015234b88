internal import COpenSSL
internal import SecureMemory

/// Owns an `EVP_PKEY`, and with it libcrypto's copy of the key, which libcrypto wipes when it frees it.
///
/// `@unchecked Sendable`: a key is not changed once it is made, and using one takes a context of its own each time.
final class KeyHandle: @unchecked Sendable {
  /// `EVP_PKEY *`, valid as long as this object.
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit { EVP_PKEY_free(pointer) }

  /// A context for one operation with this key.
  func context() throws(KeysError) -> OperationContext {
    // Takes a reference of its own to the key; the result is transfer full.
    guard let context = EVP_PKEY_CTX_new_from_pkey(LibraryContext.shared.pointer, pointer, nil) else {
      throw .drainLibrary("a key operation")
    }
    return OperationContext(taking: context)
  }

  /// The plain result of Diffie-Hellman, of `count` bytes.
  func sharedSecret(with peer: KeyHandle, count: Int) throws(KeysError) -> SecretBytes {
    let context = try context()
    // Takes a reference of its own to the peer's key, which it checks: 1 as the last argument.
    guard EVP_PKEY_derive_init(context.pointer) == 1, EVP_PKEY_derive_set_peer_ex(context.pointer, peer.pointer, 1) == 1
    else {
      _ = KeysError.drainLibrary("key agreement")
      throw .badParameters("the two keys do not go together")
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

/// One use of a key: an `EVP_PKEY_CTX` and its owner.
struct OperationContext: ~Copyable {
  /// `EVP_PKEY_CTX *`, valid as long as this value.
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(taking pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit { EVP_PKEY_CTX_free(pointer) }
}
