internal import SecureMemory

extension Algorithms {
  /// Fetches the algorithms for opening a store and an item. This takes about 2 ms, for which a program need not wait
  /// if it calls this early on another thread.
  package static func prepare() {
    let key = SecretBytes(count: 32)
    _ = MAC.hmacSHA256(key: key, [])
    _ = Digest.sha256([])
    // Errors are ignored: the same operation fails again, with its error, when it is needed.
    guard let derived = try? KDF.hkdf(key: key, info: []) else { return }
    // This is not a valid box, but opening it fetches the algorithm.
    _ = try? AEAD.open([UInt8](repeating: 0, count: 64), key: derived, aad: [])
  }
}
