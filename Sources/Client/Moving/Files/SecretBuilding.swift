package import Primitives

/// Builds an answer with secrets in it, piece by piece in locked memory.
extension SecretBytes {
  package mutating func append(_ other: borrowing SecretBytes) { other.withUnsafeBytes { append($0) } }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let end = count
    resize(to: end + bytes.count)
    withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[end...]).copyMemory(from: bytes) }
  }

  /// Adds a character in UTF-8.
  package mutating func append(_ scalar: Unicode.Scalar) {
    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
      Swift.withUnsafeBytes(of: byte) { append($0) }
    }
  }

  /// Adds a secret as a JSON string, with its quotation marks.
  package mutating func append(json secret: borrowing SecretBytes) {
    append("\"")
    secret.withUnsafeBytes { bytes in
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0..<0x10: append("\\u000\(String(byte, radix: 16))")
        case 0x10..<0x20: append("\\u00\(String(byte, radix: 16))")
        default: Swift.withUnsafeBytes(of: byte) { append($0) }
        }
      }
    }
    append("\"")
  }

  /// Adds a text as a JSON string, with its quotation marks.
  package mutating func append(json text: String) { append(json: SecretBytes(copying: Array(text.utf8).span)) }
}
