internal import Whorl

/// Finds the fields of comma-separated values.
struct CSVReading {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  private var line = 1

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    if bytes.starts(with: utf8Mark) { index = utf8Mark.count }
  }

  /// All records but empty lines.
  mutating func records() throws(ImportError) -> [CSVTable.Record] {
    var records: [CSVTable.Record] = []
    while index < bytes.count {
      let record = try record()
      if record.fields.count > 1 || record.fields[0].end > record.fields[0].start { records.append(record) }
    }
    return records
  }

  private mutating func record() throws(ImportError) -> CSVTable.Record {
    var record = CSVTable.Record(line: line, fields: [try field()])
    while isAt(",") {
      index += 1
      record.fields.append(try field())
    }
    index += lineEnd
    line += 1
    return record
  }

  /// The length of the line break at this position; 0 if there is none.
  private var lineEnd: Int {
    if isAt("\n") { return 1 }
    return isAt("\r") && index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\n") ? 2 : 0
  }

  private mutating func field() throws(ImportError) -> CSVTable.Field {
    if isAt("\"") { return try quoted() }
    let start = index
    while index < bytes.count, !isAt(","), lineEnd == 0 { index += 1 }
    return CSVTable.Field(start: start, end: index)
  }

  private mutating func quoted() throws(ImportError) -> CSVTable.Field {
    let opening = line
    index += 1
    var field = CSVTable.Field(start: index, end: index)
    while index < bytes.count {
      if isAt("\n") { line += 1 }
      guard isAt("\"") else {
        index += 1
        continue
      }
      guard index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "\"") else {
        field.end = index
        index += 1
        guard index == bytes.count || isAt(",") || lineEnd > 0 else {
          throw .malformed("line \(line) has text behind a closing quotation mark")
        }
        return field
      }
      field.doubledMarks += 1
      index += 2
    }
    throw .malformed("line \(opening) has a quotation mark that is not closed")
  }

  private func isAt(_ character: Unicode.Scalar) -> Bool {
    index < bytes.count && bytes[index] == UInt8(ascii: character)
  }
}
