internal import COpenSSL
package import SecureMemory

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
