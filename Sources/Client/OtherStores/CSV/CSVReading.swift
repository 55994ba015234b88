internal import Moving

/// Finds the fields of comma-separated values.
struct CSVReading {
  private let bytes: UnsafeRawBufferPointer
  private let form: CSVForm
  private var index: Int
  private var line: Int

  init(_ bytes: UnsafeRawBufferPointer, _ form: CSVForm) {
    (self.bytes, self.form) = (bytes, form)
    (index, line) = (form.start, form.firstLine)
  }

  /// All records except empty ones.
  mutating func records() throws(ImportError) -> [CSVRecord] {
    var records: [CSVRecord] = []
    while index < bytes.count {
      let record = try record()
      if !record.fields.allSatisfy(\.isEmpty) { records.append(record) }
    }
    return records
  }

  mutating func record() throws(ImportError) -> CSVRecord {
    var record = CSVRecord(line: line, fields: [try field(isFirst: true)])
    while isAt(form.separator) {
      index += 1
      record.fields.append(try field(isFirst: false))
    }
    index += lineEnd
    line += 1
    return record
  }

  /// The length of the line break at this position; 0 if there is none.
  private var lineEnd: Int {
    if isAt(UInt8(ascii: "\n")) { return 1 }
    guard isAt(UInt8(ascii: "\r")) else { return 0 }
    if form.hasLoneReturns { return 1 }
    return index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\n") ? 2 : 0
  }

  private mutating func field(isFirst: Bool) throws(ImportError) -> CSVField {
    let start = index
    skipBlanks()
    if isAt(UInt8(ascii: "\"")) { return try quoted(followsBlank: index > start) }
    let followsBlank = index > start
    // Blanks may belong to an unquoted field.
    index = form.isSpaced && !isFirst && followsBlank ? start + 1 : start
    var field = CSVField(start: index, end: index, followsBlank: followsBlank)
    while index < bytes.count, !isAt(form.separator), lineEnd == 0 { index += 1 }
    field.end = index
    return field
  }

  private mutating func skipBlanks() {
    while index < bytes.count, " \t".utf8.contains(bytes[index]), !isAt(form.separator) { index += 1 }
  }

  private mutating func quoted(followsBlank: Bool) throws(ImportError) -> CSVField {
    let opening = line
    index += 1
    var field = CSVField(start: index, end: index, followsBlank: followsBlank)
    while index < bytes.count {
      if isAt(UInt8(ascii: "\n")) { line += 1 }
      if isEscape {
        field.escapes += 1
        index += 2
        continue
      }
      guard isAt(UInt8(ascii: "\"")) else {
        index += 1
        continue
      }
      field.end = index
      index += 1
      skipBlanks()
      guard index == bytes.count || isAt(form.separator) || lineEnd > 0 else {
        throw .malformed("line \(line) has text after a closing quotation mark")
      }
      return field
    }
    throw .malformed("line \(opening) has a quotation mark that is not closed")
  }

  /// Whether the next two bytes are an escape for the second one.
  private var isEscape: Bool {
    guard isAt(form.escape), index + 1 < bytes.count else { return false }
    return [UInt8(ascii: "\""), form.escape].contains(bytes[index + 1])
  }

  private func isAt(_ byte: UInt8) -> Bool { index < bytes.count && bytes[index] == byte }
}
