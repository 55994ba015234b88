internal import COpenSSL

/// The OpenSSL library context everything here computes in: a private one, because the default context reads
/// `openssl.cnf`, and finds it and its modules through `OPENSSL_CONF` and `OPENSSL_MODULES`. Whoever sets the
/// environment must not choose the code that sees the keys.
///
/// `@unchecked Sendable`: an `OSSL_LIB_CTX` does its own locking, and this one is never freed.
package struct LibraryContext: @unchecked Sendable {
  /// `OSSL_LIB_CTX *`, valid for the life of the process.
  package let pointer: OpaquePointer

  package static let shared = LibraryContext()

  private init() {
    // Without the first, `exit` in one thread tears libcrypto down under a derivation still running in another. Without
    // the second, the tables of engines, which HMAC looks into, read the configuration all the same.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG), nil)
    // Returns a context owned by the caller (transfer full); NULL only when memory is gone. NULL must not go on: to
    // every later call it would mean the default context.
    guard let context = OSSL_LIB_CTX_new() else { fatalError("libcrypto cannot allocate a context") }
    pointer = context
  }
}
