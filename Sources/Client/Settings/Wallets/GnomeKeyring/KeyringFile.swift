internal import Glibc

/// Checks a keyring's file without its secret. If the file is missing or not a keyring, the daemon accepts any secret
/// and makes a new keyring beside it, so check the file first.
package enum KeyringFile {
  /// Refuses a file that is missing, damaged or not encrypted.
  package static func requireSealed(_ path: String) throws(WalletError) {
    let bytes = try PrivateFile.read(path)
    guard !bytes.starts(with: Array("[keyring]".utf8)) else { throw .withoutPassword(path) }
    if let why = flaw(in: bytes) { throw .damaged(path, why: why) }
  }

  /// What is wrong with the bytes as an encrypted keyring (`docs/file-format.txt` of gnome-keyring); nil if they parse
  /// completely.
  private static func flaw(in bytes: [UInt8]) -> String? {
    var reader = Reader(bytes)
    guard reader.take(16).map(Array.init) == Array("GnomeKeyring\n\r\0\n".utf8) else { return "it is not a keyring" }
    // The version, the encryption (AES) and the digest (MD5): there have been no others.
    guard reader.take(4).map(Array.init) == [0, 0, 0, 0] else { return "it is of a version that is not known" }
    // The name, when it was made and changed, flags, the time after which it locks, rounds, salt, four spare numbers.
    guard reader.skipText(), reader.take(8 + 8 + 4 + 4 + 4 + 8 + 16) != nil, let items = reader.number() else {
      return "its header is cut off"
    }
    for _ in 0..<items {
      guard reader.skipItem() else { return "its list of items is cut off" }
    }
    guard let size = reader.number(), size >= 16, size % 16 == 0, reader.take(Int(size)) != nil else {
      return "its encrypted part is cut off"
    }
    return reader.isAtEnd ? nil : "something follows its end"
  }

  private struct Reader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard count <= bytes.count - offset else { return nil }
      defer { offset += count }
      return bytes[offset..<offset + count]
    }

    mutating func number() -> UInt32? { take(4)?.reduce(0) { $0 << 8 | UInt32($1) } }

    /// A text is its length, or 2^32 - 1 for none, and its bytes.
    mutating func skipText() -> Bool {
      guard let count = number() else { return false }
      return count == .max || take(Int(count)) != nil
    }

    /// Skips an item's number, its kind and the hashes of its attributes.
    mutating func skipItem() -> Bool {
      guard take(8) != nil, let attributes = number() else { return false }
      for _ in 0..<attributes {
        guard skipText(), let kind = number() else { return false }
        switch kind {
        case 0: guard skipText() else { return false }
        case 1: guard number() != nil else { return false }
        default: return false
        }
      }
      return true
    }
  }
}
