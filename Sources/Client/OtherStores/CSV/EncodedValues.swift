internal import SecureMemory

// Decodes values that some programs encode within a field, in locked memory.

extension SecretBytes {
  /// The most lines that are read of one field.
  static let mostNamedLines = 1_000

  /// Lines of a name, a colon and a value, as Zoho Vault has them, also those without a value. A line without a colon
  /// belongs to the value before it. Nil if there are more than ``mostNamedLines``, or one
  /// with a name that is too long.
  var namedLines: [(name: String, value: SharedSecret)]? {
    borrowing get {
      withUnsafeBytes { bytes in
        var lines: [(name: String, range: Range<Int>)] = []
        for whole in bytes.split(separator: UInt8(ascii: "\n"), maxSplits: Self.mostNamedLines) {
          guard lines.count < Self.mostNamedLines else { return nil }
          let line = whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole
          guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            if let last = lines.popLast() {
              lines.append((last.name, last.range.lowerBound..<line.endIndex))
            } else {
              lines.append(("notes", line.startIndex..<line.endIndex))
            }
            continue
          }
          guard colon - line.startIndex <= CSVColumn.longestName else { return nil }
          let name = String(decoding: line[..<colon], as: UTF8.self)
          lines.append((name, (colon + 1)..<line.endIndex))
        }
        return lines.map { name, range in
          (name, SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[range]))))
        }
      }
    }
  }

  /// Decodes Password Exporter's %22, %25, %26 and %3C.
  var withoutPercents: SecretBytes {
    borrowing get { replacing(["%22": "\"", "%25": "%", "%26": "&", "%3C": "<", "%3c": "<"]) }
  }

  /// Replaces each » with a line break, for which Password Safe writes it.
  var withLineBreaks: SecretBytes { borrowing get { replacing(["»": "\n"]) } }

  /// Replaces texts. No replacement may be longer than its original.
  private borrowing func replacing(_ texts: [String: String]) -> SecretBytes {
    let pairs = texts.map { (Array($0.utf8), Array($1.utf8)) }
    var result = copy()
    var count = 0
    withUnsafeBytes { source in
      result.withUnsafeMutableBytes { target in
        var index = 0
        while index < source.count {
          let pair = pairs.first { source[index...].starts(with: $0.0) }
          for byte in pair?.1 ?? [source[index]] {
            target[count] = byte
            count += 1
          }
          index += pair?.0.count ?? 1
        }
      }
    }
    result.resize(to: count)
    return result
  }
}
