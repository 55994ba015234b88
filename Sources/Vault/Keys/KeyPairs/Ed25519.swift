internal import COpenSSL
internal import Primitives

/// Ed25519 (RFC 8032): keys of 32 bytes, and signatures of 64 over the message itself.
enum Ed25519 {
  /// libcrypto's name of the algorithm.
  static let name = "ED25519"
  private static let keyCount = 32
  private static let signatureCount = 64

  static func publicKey(_ bytes: [UInt8]) throws(KeysError) -> (KeyAlgorithm, KeyHandle) {
    guard bytes.count == keyCount else { throw .badParameters("an Ed25519 public key is 32 bytes") }
    // Copies the borrowed bytes; the result is transfer full.
    guard let key = EVP_PKEY_new_raw_public_key_ex(LibraryContext.shared.pointer, name, nil, bytes, bytes.count) else {
      throw .drainLibrary("an Ed25519 key")
    }
    return (.ed25519, KeyHandle(taking: key))
  }

  static func privateKey(
    _ bytes: borrowing SecretBytes
  ) throws(KeysError) -> (publicForm: [UInt8], handle: KeyHandle) {
    guard bytes.count == keyCount else { throw .badParameters("an Ed25519 private key is 32 bytes") }
    let pointer = bytes.withUnsafeBytes {
      // Copies the borrowed bytes into memory that libcrypto wipes when it frees the key. The result is transfer full.
      EVP_PKEY_new_raw_private_key_ex(
        LibraryContext.shared.pointer, name, nil, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
    }
    guard let pointer else { throw .drainLibrary("an Ed25519 key") }
    let handle = KeyHandle(taking: pointer)
    return (try publicForm(of: handle), handle)
  }

  static func publicForm(of key: KeyHandle) throws(KeysError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: keyCount)
    var written = keyCount
    // Writes at most `written` bytes into the borrowed buffer.
    guard EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &written) == 1, written == keyCount else {
      throw .drainLibrary("an Ed25519 key")
    }
    return bytes
  }

  static func privateForm(of key: KeyHandle) throws(KeysError) -> SecretBytes {
    var bytes = SecretBytes(count: keyCount)
    var written = keyCount
    let result = bytes.withUnsafeMutableBytes {
      // Writes at most `written` bytes into the borrowed memory.
      EVP_PKEY_get_raw_private_key(key.pointer, $0.bindMemory(to: UInt8.self).baseAddress, &written)
    }
    guard result == 1, written == keyCount else { throw .drainLibrary("an Ed25519 key") }
    return bytes
  }

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
