// Encrypted files: how they are opened, by whom, and the open files that a caller lends.

internal import Glibc
package import Primitives

/// A file in age's format (age-encryption.org/v1).
package enum EncryptedFile {
  /// What opens a new file.
  package enum Recipient: Sendable {
    case passphrase(SharedSecret)
    /// The private half of this key.
    case publicKey(AgePublicKey)
  }

  /// What a file is opened with.
  package enum Opening: Sendable {
    case passphrase(SharedSecret)
    /// A private key on Curve25519, 32 bytes.
    case privateKey(SharedSecret)
  }

  /// A key pair on Curve25519.
  package struct KeyPair: Sendable {
    package let privateKey: SharedSecret
    package let publicKey: AgePublicKey

    package init(privateKey: SharedSecret, publicKey: AgePublicKey) {
      (self.privateKey, self.publicKey) = (privateKey, publicKey)
    }
  }

  /// The length of the key that encrypts the contents of one file, in bytes.
  package static let keyCount = 16
}

/// A file that the caller has open and lends for a call. Its position is not used for reading.
package struct LentFile: Sendable {
  package let descriptor: Int32
  /// What the file is, for errors: "the backup".
  private let name: String
  /// The length of the file when it was lent, in bytes. No more is read, since the file could grow without end.
  package let size: Int

  package init(_ descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
    var status = stat()
    size = unsafe fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Reads at most `count` bytes; fewer only at the end of the file.
  ///
  /// - Throws: `inputOutput`; `fileUnreadable` if the file has grown since.
  package func read(at place: Int, upTo count: Int) throws(VaultError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      // Borrows the unread rest of the array for the call.
      let received = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: $0[filled...]).baseAddress, count - filled, place + filled
        )
      }
      if received < 0, errno == EINTR { continue }
      guard received >= 0 else { throw failure() }
      if received == 0 { break }
      filled += received
    }
    guard place + filled <= size else { throw .fileUnreadable("\(name) grew while it was read") }
    bytes.removeLast(count - filled)
    return bytes
  }

  /// Writes bytes at the file's position.
  package func write(_ bytes: [UInt8]) throws(VaultError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // Borrows the rest for the call.
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw failure() }
      rest = rest.dropFirst(written)
    }
  }

  /// Syncs the file to the disk.
  package func sync() throws(VaultError) {
    guard fsync(descriptor) == 0 else { throw failure() }
  }

  private func failure() -> VaultError { .inputOutput(unsafe "\(name): \(String(cString: strerror(errno)))") }
}

/// A public key on Curve25519 that files are encrypted to in age's format.
package struct AgePublicKey: Sendable, Hashable, CustomStringConvertible {
  private static let prefix = "age"
  /// The length of the key, in bytes.
  package static let byteCount = 32

  package let bytes: [UInt8]

  /// Nil for another number of bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Reads the form that age prints: `age1` and 58 characters. Nil for anything else.
  package init?(parsing text: String) {
    guard let bytes = Bech32.bytes(in: text, prefix: Self.prefix) else { return nil }
    self.init(bytes: bytes)
  }

  package var description: String { Bech32.text(of: bytes, prefix: Self.prefix) }
}
