import Glibc
import Keys
package import Primitives
package import SecretModel

/// A line of JSON, and a line with the signature of the member that wrote it.
package struct SignedLine: Sendable {
  /// What is signed. A signature of one kind is not valid for another.
  package enum Kind: String, Sendable {
    case item, circle, request, answer, opening, consent, head
  }

  /// The maximum size of both lines together, in bytes.
  package static let limit = 2 << 20
  private static let mark = "signature "

  /// The JSON, with its newline.
  package let line: [UInt8]
  package let signer: MemberID
  private let signature: [UInt8]

  /// - Parameter circle: the circle's identifier, which is signed as well; nil for a line that contains it.
  package init(
    _ value: some Encodable, _ kind: Kind, by keys: MemberKeys, as signer: MemberID, in circle: String? = nil
  ) throws(VaultError) {
    line = try JSONLine.line(value)
    self.signer = signer
    signature = try keys.sign(SecretBytes(copying: Self.message(line, kind, circle).span))
  }

  /// Reads the two lines at the beginning of a file, which then begins with ``bytes``.
  ///
  /// - Throws: `fileUnreadable`.
  package init(parsing bytes: borrowing SecretBytes) throws(VaultError) {
    let lines: ([UInt8], [UInt8])? = bytes.withUnsafeBytes { bytes in
      guard let first = Self.newline(in: bytes, from: 0), let second = Self.newline(in: bytes, from: first + 1) else {
        return nil
      }
      return (Array(bytes[...first]), Array(bytes[(first + 1)..<second]))
    }
    guard let (line, second) = lines, let text = String(validating: second, as: UTF8.self), text.hasPrefix(Self.mark)
    else { throw .fileUnreadable("it has no signature") }
    let words = text.dropFirst(Self.mark.count).split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, let signer = MemberID(String(words[0])),
      let signature = Base64URL.bytes(of: String(words[1])), Base64URL.text(of: signature) == words[1]
    else { throw .fileUnreadable("it has no signature") }
    self.line = line
    self.signer = signer
    self.signature = signature
  }

  /// The place of the next newline within ``limit``. All lists of members are read in each transaction.
  private static func newline(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    let end = min(bytes.count, limit)
    // Reads no further than the end, and returns a place inside.
    guard start < end, let base = bytes.baseAddress, let found = memchr(base + start, 0x0A, end - start) else {
      return nil
    }
    return UnsafeRawPointer(found) - base
  }

  package init(parsing bytes: [UInt8]) throws(VaultError) {
    let secret = SecretBytes(copying: bytes.span)
    try self.init(parsing: secret)
  }

  /// Reads a file that is nothing but the two lines, and what the first one says. The signature is not verified.
  ///
  /// - Throws: `fileUnreadable`.
  static func whole<Value: Decodable>(_ file: [UInt8]) throws(VaultError) -> (SignedLine, Value) {
    let signed = try SignedLine(parsing: file)
    guard signed.bytes == file else { throw .fileUnreadable("something was appended to it") }
    return (signed, try signed.value())
  }

  /// Both lines.
  package var bytes: [UInt8] { line + Array("\(Self.mark)\(signer) \(Base64URL.text(of: signature))\n".utf8) }

  /// Identifies what was signed.
  package var digest: [UInt8] { Digest.sha256(line) }

  /// - Throws: `fileUnreadable`.
  package func verify(_ kind: Kind, by authors: Authors, in circle: String? = nil) throws(VaultError) {
    try authors.verify(signature, of: SecretBytes(copying: Self.message(line, kind, circle).span), by: signer)
  }

  package func value<Value: Decodable>(_ type: Value.Type = Value.self) throws(VaultError) -> Value {
    do throws(VaultError) {
      return try JSONLine.read(line, as: type)
    } catch {
      throw .fileUnreadable("it is not in a form that whorl writes")
    }
  }

  /// The signed bytes.
  private static func message(_ line: [UInt8], _ kind: Kind, _ circle: String?) -> [UInt8] {
    Array("whorl-sync \(kind.rawValue)\n\(circle.map { "\($0)\n" } ?? "")".utf8) + line
  }
}
