internal import SecureMemory

/// How another program has damaged a field, as the words after "its password".
enum FieldProblem {
  /// Errors that a spreadsheet writes for a value that it could not compute, such as a password that begins with "=".
  private static let spreadsheetErrors = [
    "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#N/A", "#NUM!", "#NULL!", "########",
  ]

  /// Nil for a field that is usable as it is.
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

  /// Whether it contains a KeePass reference to another entry's field.
  static func isReference(_ bytes: UnsafeRawBufferPointer) -> Bool {
    contains(bytes, Array("{REF:".utf8)) || contains(bytes, Array("{ref:".utf8))
  }

  private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Checks the bytes in place, since a string copy would not be wiped.
    bytes.withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
  }

  private static func contains(_ bytes: UnsafeRawBufferPointer, _ part: [UInt8]) -> Bool {
    guard bytes.count >= part.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
  }
}
