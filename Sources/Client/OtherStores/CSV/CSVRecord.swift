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
