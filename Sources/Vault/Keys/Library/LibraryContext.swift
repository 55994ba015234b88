// What every use of OpenSSL needs: its context, its algorithms, its errors, random bytes and large numbers.

internal import COpenSSL
package import Primitives

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

/// libcrypto's algorithms. Each is fetched once, because a fetch takes longer than sealing a secret.
package enum Algorithms {
  /// `@unchecked Sendable`: a fetched algorithm, and a context that is only duplicated, is immutable and atomically
  /// reference-counted, and this reference is never released.
  struct Fetched: @unchecked Sendable {
    private let pointer: OpaquePointer?
    private let name: StaticString

    /// `pointer` is the result of a fetch: transfer full, or NULL if libcrypto does not have the algorithm.
    fileprivate init(_ pointer: OpaquePointer?, _ name: StaticString) {
      self.pointer = pointer
      self.name = name
      if pointer == nil { ERR_clear_error() }
    }

    /// The algorithm. Borrowed, and valid until the process ends.
    func get() throws(KeysError) -> OpaquePointer {
      guard let pointer else { throw .library("libcrypto has no \(name)") }
      return pointer
    }

    /// The algorithm, for those that every operation of the store needs. Without them the process stops.
    func required() -> OpaquePointer {
      guard let pointer else { fatalError("libcrypto has no \(name)") }
      return pointer
    }
  }

  static let aes256GCM = Fetched(EVP_CIPHER_fetch(LibraryContext.shared.pointer, "AES-256-GCM", nil), "AES-256-GCM")
  static let sha256 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-256", nil), "SHA-256")
  static let aes128GCM = Fetched(EVP_CIPHER_fetch(LibraryContext.shared.pointer, "AES-128-GCM", nil), "AES-128-GCM")
  static let aes128CBC = Fetched(EVP_CIPHER_fetch(LibraryContext.shared.pointer, "AES-128-CBC", nil), "AES-128-CBC")
  static let aes256CBC = Fetched(EVP_CIPHER_fetch(LibraryContext.shared.pointer, "AES-256-CBC", nil), "AES-256-CBC")
  static let chaCha20Poly1305 = Fetched(
    EVP_CIPHER_fetch(LibraryContext.shared.pointer, "ChaCha20-Poly1305", nil), "ChaCha20-Poly1305")
  static let sha1 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA1", nil), "SHA-1")
  static let sha224 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-224", nil), "SHA-224")
  static let sha384 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-384", nil), "SHA-384")
  static let sha512 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-512", nil), "SHA-512")
  static let hkdf = Fetched(EVP_KDF_fetch(LibraryContext.shared.pointer, "HKDF", nil), "HKDF")
  static let scrypt = Fetched(EVP_KDF_fetch(LibraryContext.shared.pointer, "SCRYPT", nil), "scrypt")
  static let pbkdf2 = Fetched(EVP_KDF_fetch(LibraryContext.shared.pointer, "PBKDF2", nil), "PBKDF2")
  static let x963 = Fetched(EVP_KDF_fetch(LibraryContext.shared.pointer, "X963KDF", nil), "X9.63 KDF")
  static let hmac = Fetched(EVP_MAC_fetch(LibraryContext.shared.pointer, "HMAC", nil), "HMAC")
  /// A context without a key, to make others of.
  static let hmacSHA256 = Fetched(whorl_hmac_context(hmac.required(), "SHA2-256"), "HMAC-SHA256")
}

/// Why a cryptographic operation failed.
package enum KeysError: Error, Sendable, Hashable {
  /// The box, its key or its additional data is wrong. It is not possible to tell which.
  case authenticationFailed
  /// A parameter is not allowed. The value says which one and never contains secret bytes.
  case badParameters(String)
  /// libcrypto failed. The value is its message.
  case library(String)
  /// The system's random number generator failed.
  case random

  /// Removes all libcrypto errors from this thread's queue, so that no later call reports them, and returns the first
  /// one, which is the cause.
  static func drainLibrary(_ operation: String) -> KeysError {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return .library("\(operation) failed") }
    let reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
      // Writes at most the given number of bytes into the borrowed buffer, with a terminating NUL.
      ERR_error_string_n(code, text.baseAddress, text.count)
      return text.baseAddress.map { String(cString: $0) } ?? ""
    }
    return .library("\(operation) failed: \(reason)")
  }
}

/// Random bytes from libcrypto's generators.
package enum Random {
  /// Random bytes that need not be secret, such as nonces, salts and identifiers.
  package static func bytes(_ count: Int) throws(KeysError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBufferPointer {
      // Fills the borrowed memory. The 0 asks for the full security strength of the generator.
      RAND_bytes_ex(LibraryContext.shared.pointer, $0.baseAddress, $0.count, 0)
    }
    try check(result)
    return bytes
  }

  /// A random key of `count` bytes from libcrypto's generator for private values, written directly into locked memory.
  package static func key(_ count: Int = 32) throws(KeysError) -> SecretBytes {
    var key = SecretBytes(count: count)
    let result = key.withUnsafeMutableBytes {
      // Fills the borrowed memory. The 0 asks for the full security strength of the generator.
      RAND_priv_bytes_ex(LibraryContext.shared.pointer, $0.baseAddress, $0.count, 0)
    }
    try check(result)
    return key
  }

  private static func check(_ result: Int32) throws(KeysError) {
    guard result == 1 else {
      ERR_clear_error()
      throw .random
    }
  }
}

/// Owns a `BIGNUM` that may be secret. libcrypto wipes its memory when it is reallocated or freed.
final class BigNumber {
  /// The `BIGNUM *`. Valid as long as this object exists.
  let pointer: OpaquePointer

  /// Makes the number zero.
  init() throws(KeysError) {
    // Transfer full. The number is a secure one, so that parameters made from it are wiped too.
    guard let pointer = BN_secure_new() else { throw .drainLibrary("a number") }
    self.pointer = pointer
    // Make libcrypto use constant-time algorithms for this number.
    BN_set_flags(pointer, BN_FLG_CONSTTIME)
  }

  /// Makes a number from bytes, most significant first.
  convenience init(_ bytes: UnsafeRawBufferPointer) throws(KeysError) {
    try self.init()
    // Copies the borrowed bytes into the number, and returns it.
    guard BN_bin2bn(bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count), pointer) != nil else {
      throw .drainLibrary("a number")
    }
  }

  deinit { BN_clear_free(pointer) }

  var bitCount: Int { Int(BN_num_bits(pointer)) }

  var isOdd: Bool { BN_is_odd(pointer) == 1 }

  /// This number, an RSA private exponent, modulo `prime` - 1.
  func exponent(for prime: BigNumber) throws(KeysError) -> BigNumber {
    let exponent = try BigNumber()
    // Borrows the numbers and sets the result.
    guard whorl_rsa_exponent(exponent.pointer, pointer, prime.pointer) == 1 else { throw .drainLibrary("an RSA key") }
    return exponent
  }

  /// Writes the number to all of `bytes`, with leading zeros. False if it is too large.
  func write(to bytes: UnsafeMutableRawBufferPointer) -> Bool {
    // Writes exactly the given number of bytes into the borrowed memory.
    BN_bn2binpad(pointer, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(bytes.count)) == Int32(bytes.count)
  }
}
