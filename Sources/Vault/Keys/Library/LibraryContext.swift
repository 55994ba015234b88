internal import COpenSSL

/// The OpenSSL library context of all cryptography here.
///
/// `openssl.cnf` can name modules and engines to load, and `OPENSSL_CONF` selects that file. The environment must not
/// choose code that sees keys. Two measures prevent that, because neither is enough alone:
///
/// libcrypto is told not to load the configuration. This holds for the whole process, but only if nobody has used
/// libcrypto before. A private context alone does not prevent loading, because every cipher asks the table of engines,
/// and that loads the configuration.
///
/// The context is private, so that neither a configuration nor default properties of the host program decide which
/// algorithms are found.
///
/// `@unchecked Sendable`: an `OSSL_LIB_CTX` does its own locking, and this one is never freed.
package struct LibraryContext: @unchecked Sendable {
  /// The `OSSL_LIB_CTX *`. Valid until the process ends.
  package let pointer: OpaquePointer

  package static let shared = LibraryContext()

  private init() {
    // Load no configuration, as explained above. Also install no `atexit` handler: it would free libcrypto's state
    // while another thread may still be deriving a key. Borrows nothing.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    // Returns a context that the caller owns (transfer full), or NULL if there is no memory. Stop then, because every
    // later call would take NULL to mean the default context.
    guard let context = OSSL_LIB_CTX_new() else { fatalError("libcrypto cannot allocate a context") }
    pointer = context
  }

  /// Skips libcrypto's tables of algorithm names for old interfaces, which nothing here uses. Loading them takes a
  /// twentieth of the time of a `whorl get`.
  ///
  /// Call it at the start of a program. It holds for the whole process, so not in a library: its host may use such a name.
  package static func skipOldNames() {
    let settings =
      OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_ADD_ALL_CIPHERS
      | OPENSSL_INIT_NO_ADD_ALL_DIGESTS
    // Borrows nothing.
    OPENSSL_init_crypto(UInt64(settings), nil)
  }
}
