internal import SecureMemory

extension Algorithms {
  /// Fetches what opening a store and an item needs. libcrypto takes about 2 ms to initialise; a program that calls
  /// this first, on another thread, does not wait for it.
  package static func prepare() {
    let key = SecretBytes(count: 32)
    _ = MAC.hmacSHA256(key: key, [])
    _ = Digest.sha256([])
    // Errors are ignored: the same operation fails again, with its error, when it is needed.
    guard let derived = try? KDF.hkdf(key: key, info: []) else { return }
    // This is not a valid box, but the algorithm is fetched before that is noticed.
    _ = try? AEAD.open([UInt8](repeating: 0, count: 64), key: derived, aad: [])
  }
}
