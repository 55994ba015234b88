/// The position of a field's first byte, and the position after its last byte, without quotation marks.
struct CSVField: Sendable {
  var start: Int
  var end: Int
  /// How many bytes in it only say that the next byte is meant as it is.
  var escapes = 0
  /// Whether blanks stand before it.
  var followsBlank = false

  var isEmpty: Bool { start == end }
}

/// The fields of one line, or of several where a field has line breaks.
struct CSVRecord: Sendable {
  /// The line it begins on, from 1 on.
  var line: Int
  var fields: [CSVField]
}
