internal import COpenSSL
internal import Primitives

/// Ed25519 (RFC 8032): keys of 32 bytes, and signatures of 64 over the message itself.
enum Ed25519 {
  private static let signatureCount = 64

  static func sign(
    _ message: UnsafePointer<UInt8>?, count: Int, with key: KeyHandle
  ) throws(KeysError) -> [UInt8] {
    let context = try MessageContext()
    var signature = [UInt8](repeating: 0, count: signatureCount)
    var written = signatureCount
    // Takes its own reference to the key, borrows the message and writes at most `written` bytes.
    guard
      EVP_DigestSignInit_ex(context.pointer, nil, nil, LibraryContext.shared.pointer, nil, key.pointer, nil) == 1,
      EVP_DigestSign(context.pointer, &signature, &written, message, count) == 1,
      written == signatureCount
    else { throw .drainLibrary("signing") }
    return signature
  }

  /// A malformed signature is not an error but false.
  static func verify(
    _ signature: [UInt8], of message: UnsafePointer<UInt8>?, count: Int, with key: KeyHandle
  ) throws(KeysError) -> Bool {
    let context = try MessageContext()
    // Takes its own reference to the key.
    guard EVP_DigestVerifyInit_ex(context.pointer, nil, nil, LibraryContext.shared.pointer, nil, key.pointer, nil) == 1
    else { throw .drainLibrary("verifying") }
    // Borrows both. Every result except 1 means that the signature is not valid.
    guard EVP_DigestVerify(context.pointer, signature, signature.count, message, count) == 1 else {
      _ = KeysError.drainLibrary("verifying")
      return false
    }
    return true
  }
}

/// Owns an `EVP_MD_CTX`, for one signature.
private struct MessageContext: ~Copyable {
  /// The `EVP_MD_CTX *`. Valid as long as this value exists.
  let pointer: OpaquePointer

  init() throws(KeysError) {
    // Transfer full.
    guard let pointer = EVP_MD_CTX_new() else { throw .drainLibrary("a signature") }
    self.pointer = pointer
  }

  deinit { EVP_MD_CTX_free(pointer) }
}
