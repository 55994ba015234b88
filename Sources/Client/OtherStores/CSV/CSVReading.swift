internal import Moving

/// Finds the fields of comma-separated values.
struct CSVReading {
  private let bytes: UnsafeRawBufferPointer
  private let form: CSVForm
  private var index: Int
  private var line: Int
  /// The number of all fields so far.
  private var count = 0

  /// The most fields of a line, the most lines with fields, and the most fields of a file: several times what programs
  /// write, and little enough for memory and time.
  private static let mostColumns = 1_000
  private static let mostRecords = 100_000
  private static let mostFields = 2_000_000

  /// What is wrong with a line that has more fields than are read.
  static func tooWide(line: Int) -> ImportError {
    .malformed("line \(line) has more than \(mostColumns) fields, and no program's export has")
  }

  init(_ bytes: UnsafeRawBufferPointer, _ form: CSVForm) {
    (self.bytes, self.form) = (bytes, form)
    (index, line) = (form.start, form.firstLine)
  }

  /// All records except empty ones.
  mutating func records() throws(ImportError) -> [CSVRecord] {
    var records: [CSVRecord] = []
    while index < bytes.count {
      let record = try record()
      guard !record.fields.allSatisfy(\.isEmpty) else { continue }
      guard records.count < Self.mostRecords else {
        throw .malformed(
          "it has more than \(Self.mostRecords) lines with something in them: import it in several files")
      }
      count += record.fields.count
      guard count <= Self.mostFields else {
        throw .malformed("it has more than \(Self.mostFields) fields: import it in several files")
      }
      records.append(record)
    }
    return records
  }

  mutating func record() throws(ImportError) -> CSVRecord {
    var record = CSVRecord(line: line, fields: [try field(isFirst: true)])
    while isAt(form.separator) {
      guard record.fields.count < Self.mostColumns else {
        throw Self.tooWide(line: record.line)
      }
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
    return bytes[index + 1] == UInt8(ascii: "\"") || bytes[index + 1] == form.escape
  }

  private func isAt(_ byte: UInt8) -> Bool { index < bytes.count && bytes[index] == byte }
}
