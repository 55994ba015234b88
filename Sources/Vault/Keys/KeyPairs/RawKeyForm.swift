internal import COpenSSL
internal import Primitives

/// Keys that are 32 bytes each, private and public: those of Ed25519 (RFC 8032) and X25519 (RFC 7748). The public key is
/// computed from the private one.
struct RawKeyForm: Sendable {
  static let ed25519 = RawKeyForm(algorithm: .ed25519, name: "ED25519", key: "an Ed25519")
  static let x25519 = RawKeyForm(algorithm: .x25519, name: "X25519", key: "an X25519")
  /// The length of a key, in bytes.
  static let keyCount = 32

  let algorithm: KeyAlgorithm
  /// libcrypto's name of the algorithm.
  let name: String
  /// The beginning of the words for a key.
  private let key: String

  func publicKey(_ bytes: [UInt8]) throws(KeysError) -> (KeyAlgorithm, KeyHandle) {
    guard bytes.count == Self.keyCount else { throw .badParameters("\(key) public key is 32 bytes") }
    // Copies the borrowed bytes; the result is transfer full.
    guard let made = EVP_PKEY_new_raw_public_key_ex(LibraryContext.shared.pointer, name, nil, bytes, bytes.count)
    else { throw .drainLibrary("\(key) key") }
    return (algorithm, KeyHandle(taking: made))
  }

  func privateKey(
    _ bytes: borrowing SecretBytes
  ) throws(KeysError) -> (publicForm: [UInt8], handle: KeyHandle) {
    guard bytes.count == Self.keyCount else { throw .badParameters("\(key) private key is 32 bytes") }
    let pointer = bytes.withUnsafeBytes {
      // Copies the borrowed bytes into memory that libcrypto wipes when it frees the key. The result is transfer full.
      EVP_PKEY_new_raw_private_key_ex(
        LibraryContext.shared.pointer, name, nil, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
    }
    guard let pointer else { throw .drainLibrary("\(key) key") }
    let handle = KeyHandle(taking: pointer)
    return (try publicForm(of: handle), handle)
  }

  func publicForm(of handle: KeyHandle) throws(KeysError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.keyCount)
    var written = Self.keyCount
    // Writes at most `written` bytes into the borrowed buffer.
    guard EVP_PKEY_get_raw_public_key(handle.pointer, &bytes, &written) == 1, written == Self.keyCount else {
      throw .drainLibrary("\(key) key")
    }
    return bytes
  }

  func privateForm(of handle: KeyHandle) throws(KeysError) -> SecretBytes {
    var bytes = SecretBytes(count: Self.keyCount)
    var written = Self.keyCount
    let result = bytes.withUnsafeMutableBytes {
      // Writes at most `written` bytes into the borrowed memory.
      EVP_PKEY_get_raw_private_key(handle.pointer, $0.bindMemory(to: UInt8.self).baseAddress, &written)
    }
    guard result == 1, written == Self.keyCount else { throw .drainLibrary("\(key) key") }
    return bytes
  }
}
