internal import COpenSSL

/// The OpenSSL library context everything here computes in. `openssl.cnf` can name modules and engines to load, and
/// `OPENSSL_CONF` names the file: whoever sets the environment must not choose the code that sees the keys.
///
/// Two measures, because neither is enough. libcrypto is told not to load the configuration at all, which holds for the
/// whole process, and only where nobody has used libcrypto before: a private context alone does not prevent it, since
/// every cipher still asks the table of engines, and that loads it. And the context is a private one, so that a
/// configuration or default properties of the host program do not decide which algorithms are found.
///
/// `@unchecked Sendable`: an `OSSL_LIB_CTX` does its own locking, and this one is never freed.
package struct LibraryContext: @unchecked Sendable {
  /// `OSSL_LIB_CTX *`, valid for the life of the process.
  package let pointer: OpaquePointer

  package static let shared = LibraryContext()

  private init() {
    // No configuration, as said above. And no tearing down at `exit`, which in one thread would take libcrypto away
    // under a derivation still running in another. Borrows nothing.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    // Returns a context owned by the caller (transfer full); NULL only when memory is gone. NULL must not go on: to
    // every later call it would mean the default context.
    guard let context = OSSL_LIB_CTX_new() else { fatalError("libcrypto cannot allocate a context") }
    pointer = context
  }
}
