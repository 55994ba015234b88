internal import SecureMemory

/// Why a field of a file cannot be what the other program meant, in words that follow "its password".
enum FieldProblem {
  /// What a spreadsheet writes in place of a value that it could not compute, such as a password that begins with "=".
  private static let spreadsheetErrors = [
    "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#N/A", "#NUM!", "#NULL!", "########",
  ]

  /// Nil for a field that can be taken as it is.
  static func find(in field: borrowing SecretBytes) -> String? {
    field.withUnsafeBytes { bytes in
      if !isUTF8(bytes) { return "is not in UTF-8" }
      if contains(bytes, [0xEF, 0xBF, 0xBD]) {
        return "has U+FFFD in it, which a program writes in place of a character that it could not read"
      }
      if isReference(bytes) { return "refers to another entry: only KeePass's export as XML says what it stands for" }
      if spreadsheetErrors.contains(where: { bytes.elementsEqual($0.utf8) }) {
        return "is what a spreadsheet writes in place of a value: export it without opening the file in one"
      }
      return nil
    }
  }

  /// Whether KeePass would put the field of another entry in place of a part of this one.
  static func isReference(_ bytes: UnsafeRawBufferPointer) -> Bool {
    contains(bytes, Array("{REF:".utf8)) || contains(bytes, Array("{ref:".utf8))
  }

  private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Looks at the bytes where they are, since a text of its own would not be wiped.
    bytes.withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
  }

  private static func contains(_ bytes: UnsafeRawBufferPointer, _ part: [UInt8]) -> Bool {
    guard bytes.count >= part.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
  }
}
