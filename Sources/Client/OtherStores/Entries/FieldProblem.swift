internal import SecureMemory

/// How another program has damaged a field, as the words after "its password".
enum FieldProblem {
  /// What a program may have done to a field before it came here.
  enum Suspicion {
    /// Nothing that is known.
    case ordinary
    /// It may have been taken from a web page, where `&amp;` stands for `&`.
    case webPage
  }

  /// What spreadsheets write for a value that they could not compute, such as a password that begins with "=". They are
  /// written in the language of the person.
  private static let spreadsheetErrors: Set<String> = [
    "#NAME?", "#VALUE!", "#REF!", "#DIV/0!", "#N/A", "#NUM!", "#NULL!", "#ERROR!", "#SPILL!", "#CALC!", "#FIELD!",
    "#BLOCKED!", "#CONNECT!", "#UNKNOWN!", "#BUSY!", "#GETTING_DATA",
    // German, French, Spanish, Italian, Portuguese, Dutch.
    "#BEZUG!", "#WERT!", "#ZAHL!", "#NV", "#NOM?", "#VALEUR!", "#NOMBRE!", "#NUL!", "#¿NOMBRE?", "#¡VALOR!", "#¡REF!",
    "#¡DIV/0!", "#¡NUM!", "#¡NULO!", "#NOME?", "#VALORE!", "#RIF!", "#VALOR!", "#NULO!", "#NAAM?", "#WAARDE!", "#VERW!",
    "#GETAL!", "#LEEG!", "#N/B", "#N/D",
    // LibreOffice.
    "Err:501", "Err:502", "Err:503", "Err:504", "Err:508", "Err:509", "Err:510", "Err:511", "Err:512", "Err:519",
    "Err:520", "Err:522", "Err:523", "Err:524", "Err:525", "Err:532",
  ]

  /// What LastPass writes in place of a character.
  private static let entities = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#39;", "&#039;", "&#x27;", "&#34;"]

  private static let reopened = "export it again without opening the file in one"

  /// Nil for a field that is usable as it is.
  static func find(in field: borrowing SecretBytes, _ suspicion: Suspicion) -> String? {
    field.withUnsafeBytes { bytes in
      if !isUTF8(bytes) { return "is not in UTF-8" }
      if bytes.contains("\u{FFFD}") {
        return "has U+FFFD in it, which a program writes in place of a character that it could not read"
      }
      if isReference(bytes) { return "refers to another entry: only KeePass's export as XML says what it stands for" }
      if suspicion == .webPage, entities.contains(where: { bytes.contains($0) }) {
        return "has a character written as in a web page, such as &amp; for &, which LastPass's exports do: write the "
          + "character itself in the file"
      }
      return spreadsheetProblem(bytes)
    }
  }

  /// Whether it contains a KeePass reference to another entry's field.
  static func isReference(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.contains("{REF:") || bytes.contains("{ref:")
  }

  static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Checks the bytes in place, since a string copy would not be wiped.
    bytes.withMemoryRebound(to: UInt8.self) { (try? UTF8Span(validating: $0.span)) != nil }
  }

  // MARK: Spreadsheets

  private static func spreadsheetProblem(_ bytes: UnsafeRawBufferPointer) -> String? {
    // A cell that is too narrow for its value is filled with number signs.
    if isErrorWord(bytes) || bytes.count >= 4 && bytes.allSatisfy({ $0 == UInt8(ascii: "#") }) {
      return "is what a spreadsheet writes in place of a value: \(reopened)"
    }
    if isShortenedNumber(bytes) { return "is a number that a spreadsheet has shortened: \(reopened)" }
    if bytes.count >= 3, bytes.starts(with: "=\"".utf8), bytes.last == UInt8(ascii: "\"") {
      return "is a formula of a spreadsheet: write what stands between its quotation marks in its place"
    }
    return nil
  }

  private static func isErrorWord(_ bytes: UnsafeRawBufferPointer) -> Bool {
    spreadsheetErrors.contains { bytes.elementsEqual($0.utf8) }
  }

  /// Whether it is like 1.23E+15, as spreadsheets show numbers of many digits.
  private static func isShortenedNumber(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard (5...24).contains(bytes.count), let mark = bytes.firstIndex(of: UInt8(ascii: "E")) else { return false }
    func areDigits(_ part: Slice<UnsafeRawBufferPointer>) -> Bool { part.allSatisfy { (0x30...0x39).contains($0) } }
    let (number, power) = (bytes[..<mark], bytes[(mark + 1)...])
    guard let first = number.first, (0x31...0x39).contains(first), ".,".utf8.contains(number.dropFirst().first ?? 0x2E),
      number.count != 2, areDigits(number.dropFirst(2))
    else { return false }
    return "+-".utf8.contains(power.first ?? 0) && (2...3).contains(power.count - 1) && areDigits(power.dropFirst())
  }
}
