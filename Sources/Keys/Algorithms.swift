internal import COpenSSL
internal import SecureMemory

/// libcrypto's algorithms, looked up once: a fetch costs more than sealing a secret does.
package enum Algorithms {
  /// Looks up what opening a store and an item needs. libcrypto takes about 2 ms to get ready; a program that calls
  /// this on a thread of its own, as its first act, does not wait for them.
  package static func prepare() {
    let key = SecretBytes(count: 32)
    _ = MAC.hmacSHA256(key: key, [])
    _ = Digest.sha256([])
    // What fails here fails again, with its error, where it is needed.
    guard let derived = try? KDF.hkdf(key: key, info: []) else { return }
    // Not a box, which makes no difference to what is looked up.
    _ = try? AEAD.open([UInt8](repeating: 0, count: 64), key: derived, aad: [])
  }

  /// `@unchecked Sendable`: a fetched algorithm is immutable and counted by reference, and the one reference this
  /// holds is never given back.
  struct Fetched: @unchecked Sendable {
    private let pointer: OpaquePointer?
    private let name: StaticString

    /// `pointer` is what a fetch returned: transfer full, NULL where libcrypto does not have the algorithm.
    fileprivate init(_ pointer: OpaquePointer?, _ name: StaticString) {
      self.pointer = pointer
      self.name = name
      if pointer == nil { ERR_clear_error() }
    }

    /// Borrowed, for the life of the process.
    func get() throws(KeysError) -> OpaquePointer {
      guard let pointer else { throw .library("libcrypto has no \(name)") }
      return pointer
    }

    /// For the two without which nothing is stored or found; a libcrypto that lacks them is not one to go on with.
    func required() -> OpaquePointer {
      guard let pointer else { fatalError("libcrypto has no \(name)") }
      return pointer
    }
  }

  static let aes256GCM = Fetched(EVP_CIPHER_fetch(LibraryContext.shared.pointer, "AES-256-GCM", nil), "AES-256-GCM")
  static let sha256 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-256", nil), "SHA-256")
  static let aes128GCM = Fetched(EVP_CIPHER_fetch(LibraryContext.shared.pointer, "AES-128-GCM", nil), "AES-128-GCM")
  static let sha1 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA1", nil), "SHA-1")
  static let sha224 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-224", nil), "SHA-224")
  static let sha384 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-384", nil), "SHA-384")
  static let sha512 = Fetched(EVP_MD_fetch(LibraryContext.shared.pointer, "SHA2-512", nil), "SHA-512")
  static let hkdf = Fetched(EVP_KDF_fetch(LibraryContext.shared.pointer, "HKDF", nil), "HKDF")
  static let scrypt = Fetched(EVP_KDF_fetch(LibraryContext.shared.pointer, "SCRYPT", nil), "scrypt")
  static let x963 = Fetched(EVP_KDF_fetch(LibraryContext.shared.pointer, "X963KDF", nil), "X9.63 KDF")
  static let hmac = Fetched(EVP_MAC_fetch(LibraryContext.shared.pointer, "HMAC", nil), "HMAC")
}
