internal import Primitives
internal import SecretModel

/// The header of a file in age's format: who can open it, and a MAC under the file's key.
struct AgeHeader {
  /// One way to the file's key.
  struct Stanza {
    /// The kind of the stanza, and what belongs to it.
    var words: [String]
    /// The encrypted key of the file.
    var body: [UInt8]
  }

  /// The longest header that is read, in bytes. A stanza has about 100.
  static let limit = 64 << 10
  private static let version = "age-encryption.org/v1"
  private static let columns = 64
  private static let stanzaMark = "-> "
  private static let endMark = "---"

  let stanzas: [Stanza]
  /// The bytes that the MAC covers: from the beginning to the three dashes of the last line.
  let covered: [UInt8]
  let mac: [UInt8]
  /// The length with the last line, in bytes.
  let count: Int

  /// The header of a new file.
  init(
    _ stanzas: [Stanza], mac: (_ covered: [UInt8]) throws(VaultError) -> [UInt8]
  ) throws(VaultError) {
    var text = Self.version + "\n"
    for stanza in stanzas {
      text += "\(Self.stanzaMark)\(stanza.words.joined(separator: " "))\n"
      var rest = Base64.unpaddedText(of: stanza.body)[...]
      // The last line of a body is shorter than the others, and may be empty.
      while rest.count >= Self.columns {
        text += rest.prefix(Self.columns) + "\n"
        rest = rest.dropFirst(Self.columns)
      }
      text += rest + "\n"
    }
    text += Self.endMark
    self.stanzas = stanzas
    covered = Array(text.utf8)
    self.mac = try mac(covered)
    count = covered.count + 1 + Base64.unpaddedText(of: self.mac).utf8.count + 1
  }

  /// The whole header.
  var bytes: [UInt8] { covered + Array(" \(Base64.unpaddedText(of: mac))\n".utf8) }

  /// Reads the header at the beginning of a file.
  ///
  /// - Parameter bytes: the beginning of the file; the first ``limit`` bytes are enough.
  /// - Throws: `fileUnreadable`.
  init(parsing bytes: [UInt8]) throws(VaultError) {
    var lines = Lines(bytes.prefix(Self.limit))
    guard let first = lines.next(), first == Self.version else {
      throw .fileUnreadable(Self.otherFormat(bytes))
    }
    var stanzas: [Stanza] = []
    while let line = lines.next() {
      if line.hasPrefix(Self.stanzaMark) {
        stanzas.append(try Self.stanza(line, &lines))
        continue
      }
      guard line.hasPrefix("\(Self.endMark) "),
        let mac = Base64.bytes(ofUnpadded: String(line.dropFirst(Self.endMark.count + 1))),
        mac.count == 32, !stanzas.isEmpty
      else { break }
      self.stanzas = stanzas
      self.mac = mac
      count = lines.position
      covered = Array(bytes.prefix(count - line.utf8.count - 1 + Self.endMark.count))
      return
    }
    throw .fileUnreadable("its header was damaged or cut off")
  }

  private static func stanza(_ line: String, _ lines: inout Lines) throws(VaultError) -> Stanza {
    let words = line.dropFirst(stanzaMark.count).split(separator: " ", omittingEmptySubsequences: false)
    var body = ""
    while words.allSatisfy({ !$0.isEmpty }), let part = lines.next(), part.utf8.count <= columns {
      body += part
      guard part.utf8.count < columns else { continue }
      guard let bytes = Base64.bytes(ofUnpadded: body) else { break }
      return Stanza(words: words.map(String.init), body: bytes)
    }
    throw .fileUnreadable("its header was damaged or cut off")
  }

  private static func otherFormat(_ bytes: [UInt8]) -> String {
    if bytes.isEmpty { return "it is empty" }
    // Programs that take a file for text put a mark of UTF-8 or blank lines in front of it.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = (bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]).drop {
      " \t\r\n".utf8.contains($0)
    }
    if text.starts(with: "-----BEGIN AGE ENCRYPTED FILE-----".utf8) {
      return "it is in age's form for text, and only the binary form is read"
    }
    guard text.starts(with: version.utf8) else { return "it is not in the format \(version)" }
    if text.count < bytes.count { return "blanks or a mark were put in front of it, as when a file is taken for text" }
    return text.dropFirst(version.utf8.count).starts(with: "\r\n".utf8)
      ? "its line breaks were changed, as when a file is taken for text" : "it is not in the format \(version)"
  }
}

/// Lines of printable ASCII that end with a newline.
private struct Lines {
  private let bytes: ArraySlice<UInt8>
  /// Where the next line begins.
  private(set) var position = 0

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  /// Nil where there is no further line, or it holds other characters.
  mutating func next() -> String? {
    let rest = bytes[position...]
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")), rest[..<end].allSatisfy({ (0x20...0x7E).contains($0) })
    else {
      return nil
    }
    position = end + 1
    return String(decoding: rest[..<end], as: UTF8.self)
  }
}
