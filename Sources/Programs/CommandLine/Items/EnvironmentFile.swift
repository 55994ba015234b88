import Settings

/// The variables of a file, for `whorl run --env-file`.
///
/// Its syntax is the part of that of systemd's `EnvironmentFile=` that docker and dotenv read in the same way, and
/// quotation marks around a whole value, which docker alone would keep. Everything else is refused.
enum EnvironmentFile {
  typealias Variable = (name: String, value: SecretTemplate)

  static func variables(of path: String) throws(Failure) -> [Variable] {
    var variables: [Variable] = []
    // By bytes: a line feed after a carriage return is one character with it.
    let lines = try SecretTemplate.text(of: path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, line) in zip(1..., lines) where !line.isEmpty && line.first != UInt8(ascii: "#") {
      let variable = try Line(bytes: line, number: number, file: path).variable()
      guard !variables.contains(where: { $0.name == variable.name }) else {
        throw .badLine(number, of: path, "\(variable.name) is there twice", advice: "name it once")
      }
      variables.append(variable)
    }
    return variables
  }

  /// Whether the text is a valid name of a shell variable.
  static func isName(_ text: some Collection<UInt8>) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    guard let first = text.first, isLetter(first) else { return false }
    return text.allSatisfy { isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// A line that is neither empty nor a comment.
  private struct Line {
    let bytes: ArraySlice<UInt8>
    let number: Int
    let file: String

    func variable() throws(Failure) -> Variable {
      guard !bytes.contains(where: { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7F }) else {
        throw bad("it has a control character in it", "end lines with a line feed alone, as on Unix")
      }
      let parts = bytes.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, isName(parts[0]) else {
        throw bad(
          "not NAME=VALUE",
          bytes.starts(with: "export ".utf8) ? "leave out 'export'" : "a comment begins with # in the first column")
      }
      let name = String(decoding: parts[0], as: UTF8.self)
      let value = try unquoted(parts[1])
      guard value.starts(with: SecretTemplate.scheme.utf8) else {
        return (name, try SecretTemplate(parsing: value, of: file, firstLine: number))
      }
      let item = value.dropFirst(SecretTemplate.scheme.utf8.count)
      return (name, SecretTemplate(secret: try SecretTemplate.name(item, number, of: file)))
    }

    /// The value without quotation marks around it.
    private func unquoted(_ value: ArraySlice<UInt8>) throws(Failure) -> ArraySlice<UInt8> {
      let (single, double) = (UInt8(ascii: "'"), UInt8(ascii: "\""))
      if let quote = value.first, quote == single || quote == double {
        let inner = value.dropFirst().dropLast()
        guard value.count >= 2, value.last == quote, !inner.contains(quote) else {
          throw bad("a quotation mark that does not go around the whole value", "put one at each end and none between")
        }
        guard quote == single || !inner.contains(where: "\\$`".utf8.contains) else {
          throw bad("a character that programs replace", Self.inQuotes)
        }
        return inner
      }
      guard value.first.map(isBlank) != true, value.last.map(isBlank) != true else {
        throw bad("a blank at an end of the value", Self.inQuotes)
      }
      let isReference = value.starts(with: SecretTemplate.scheme.utf8)
      guard isReference || !value.contains(where: "\\$`\"'#".utf8.contains) else {
        throw bad("a character that programs read in different ways", Self.inQuotes)
      }
      return value
    }

    private static let inQuotes = "put the value between ' and ', or remove it"

    private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private func bad(_ what: String, _ advice: String) -> Failure { .badLine(number, of: file, what, advice: advice) }
  }
}
