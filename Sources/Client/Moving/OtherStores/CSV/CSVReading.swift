// A CSV file as records.

internal import Primitives

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

/// The position of a field's first byte, and the position after its last byte, without quotation marks.
struct CSVField: Sendable {
  var start: Int
  var end: Int
  /// The number of escape bytes in it.
  var escapes = 0
  /// Whether blanks precede it.
  var followsBlank = false

  var isEmpty: Bool { start == end }
}

/// The fields of one line, or of several if a field has line breaks.
struct CSVRecord: Sendable {
  /// The line it begins on, counted from 1.
  var line: Int
  var fields: [CSVField]
}

/// A file of comma-separated values (RFC 4180), or of values with other separators, in locked memory. Fields are positions
/// in it, and secrets are only ever copied into locked memory.
struct CSVTable: Sendable {
  let form: CSVForm
  let records: [CSVRecord]
  private let bytes: SharedSecret

  init(_ bytes: SharedSecret) throws(ImportError) {
    self.bytes = bytes
    (form, records) = try bytes.bytes.withUnsafeBytes { (buffer) throws(ImportError) in
      let form = try CSVForm(of: buffer)
      var reading = CSVReading(buffer, form)
      return (form, try reading.records())
    }
  }

  init(_ bytes: consuming SecretBytes) throws(ImportError) { try self.init(SharedSecret(bytes)) }

  /// The contents of a field.
  func secret(_ field: CSVField) -> SecretBytes {
    var value = SecretBytes(count: field.end - field.start - field.escapes)
    copy(field, into: &value)
    return value
  }

  /// The text of a field that is not secret; nil if it is not UTF-8.
  func text(_ field: CSVField) -> String? { secret(field).plainText }

  /// Whether a field is this word, in any case. Does not copy the field into a string, since it may be secret.
  func isWord(_ field: CSVField, _ word: String) -> Bool {
    let lower = Array(word.utf8)
    return field.escapes == 0
      && bytes.bytes.withUnsafeBytes { $0[field.start..<field.end].elementsEqual(lower) { $0 | 0x20 == $1 | 0x20 } }
  }

  private func copy(_ field: CSVField, into value: inout SecretBytes) {
    value.withUnsafeMutableBytes { target in
      bytes.bytes.withUnsafeBytes { source in
        var index = field.start
        var escapes = field.escapes
        for place in target.indices {
          if escapes > 0, source[index] == form.escape {
            index += 1
            escapes -= 1
          }
          target[place] = source[index]
          index += 1
        }
      }
    }
  }
}

extension SecretBytes {
  /// A text that is not secret; nil if it is not UTF-8.
  var plainText: String? { borrowing get { withUnsafeBytes { String(validating: $0, as: UTF8.self) } } }
}

/// The format of a file's fields, and where they begin.
struct CSVForm: Sendable {
  /// The separator between two fields.
  var separator = UInt8(ascii: ",")
  /// The escape character before a quotation mark within a quoted field.
  var escape = UInt8(ascii: "\"")
  /// Whether each separator is followed by a space that belongs to no field.
  var isSpaced = false
  /// Whether a carriage return alone ends a line.
  var hasLoneReturns = false
  /// The position and the number of the header line.
  var start = 0
  var firstLine = 1
  /// Whether the file is from Firefox's Password Exporter, which percent-encodes some characters, such as %22.
  var isOfPasswordExporter = false
}
