internal import COpenSSL

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
