internal import CLinux
internal import Glibc
internal import Primitives

/// Makes the secrets with which keyrings are encrypted.
enum KeyringSecret {
  private static let byteCount = 32

  /// A new one: 32 random bytes in hexadecimal digits, since the daemon takes texts.
  static func make() throws(WalletError) -> SecretBytes {
    var bytes = SecretBytes(count: byteCount)
    // Borrows the memory for the call. getrandom returns so few bytes all at once.
    guard bytes.withUnsafeMutableBytes({ getrandom($0.baseAddress, $0.count, 0) }) == byteCount else {
      throw .system("no random bytes: \(String(cString: strerror(errno)))")
    }
    let digits = Array("0123456789abcdef".utf8)
    var text = SecretBytes(count: byteCount * 2)
    bytes.withUnsafeBytes { source in
      text.withUnsafeMutableBytes { target in
        for (index, byte) in source.enumerated() {
          target[index * 2] = digits[Int(byte >> 4)]
          target[index * 2 + 1] = digits[Int(byte & 15)]
        }
      }
    }
    return text
  }
}
