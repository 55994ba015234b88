internal import CSodium
internal import Primitives

/// The encryption of the protocol, `crypto_box` of libsodium: the key of one connection, made of a new key pair and the
/// public key of the browser.
struct MessageBox: Sendable {
  static let keySize = Int(crypto_box_publickeybytes())
  static let nonceSize = Int(crypto_box_noncebytes())
  private static let tagSize = Int(crypto_box_macbytes())

  /// Of the new key pair.
  let publicKey: [UInt8]
  let clientKey: [UInt8]
  /// What both key pairs have in common. The private key is not needed any more.
  private let shared: SharedSecret

  /// Nil for what is no public key.
  init?(with clientKey: [UInt8]) {
    guard sodium_init() >= 0, clientKey.count == Self.keySize else { return nil }
    var publicKey = [UInt8](repeating: 0, count: Self.keySize)
    var privateKey = SecretBytes(count: Int(crypto_box_secretkeybytes()))
    var shared = SecretBytes(count: Int(crypto_box_beforenmbytes()))
    // Both functions borrow the keys, whose sizes are those above.
    let isMade = privateKey.withMutablePointer { privateKey in
      guard crypto_box_keypair(&publicKey, privateKey) == 0 else { return false }
      // Fails for a public key with which the result would be the same for every private key.
      return shared.withMutablePointer { crypto_box_beforenm($0, clientKey, privateKey) == 0 }
    }
    guard isMade else { return nil }
    (self.publicKey, self.clientKey, self.shared) = (publicKey, clientKey, SharedSecret(shared))
  }

  /// The message in a sealed one; nil for one that was not sealed with these keys and this nonce.
  func open(_ sealed: [UInt8], nonce: [UInt8]) -> SecretBytes? {
    guard nonce.count == Self.nonceSize, sealed.count >= Self.tagSize else { return nil }
    var message = SecretBytes(count: sealed.count - Self.tagSize)
    // Borrows everything for the call, and writes the message, whose size is as above.
    let isOpen = message.withMutablePointer { message in
      shared.bytes.withPointer { shared in
        crypto_box_open_easy_afternm(message, sealed, UInt64(sealed.count), nonce, shared) == 0
      }
    }
    guard isOpen else { return nil }
    return message
  }

  /// Nil for a nonce of another size.
  func seal(_ message: borrowing SecretBytes, nonce: [UInt8]) -> [UInt8]? {
    guard nonce.count == Self.nonceSize else { return nil }
    var sealed = [UInt8](repeating: 0, count: message.count + Self.tagSize)
    // Borrows everything for the call, and writes the sealed message, whose size is as above.
    let count = UInt64(message.count)
    let isSealed = message.withPointer { message in
      shared.bytes.withPointer { shared in crypto_box_easy_afternm(&sealed, message, count, nonce, shared) == 0 }
    }
    return isSealed ? sealed : nil
  }

  /// The nonce of the answer to a message with this one.
  static func next(_ nonce: [UInt8]) -> [UInt8] {
    var nonce = nonce
    sodium_increment(&nonce, nonce.count)
    return nonce
  }

  /// A name for a store that tells nothing about it.
  static func digest(_ text: String) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_bytes()))
    let bytes = Array(text.utf8)
    crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
    return digest
  }

  static func random(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
  }
}

extension SecretBytes {
  /// Lends the bytes to a function of libsodium.
  fileprivate borrowing func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { preconditionFailure("a secret has an address") }
      return body(base.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// The same for writing.
  fileprivate mutating func withMutablePointer<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
    withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { preconditionFailure("a secret has an address") }
      return body(base.assumingMemoryBound(to: UInt8.self))
    }
  }
}
