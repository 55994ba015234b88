/// How a file writes its fields, and where they begin.
struct CSVForm: Sendable {
  /// What stands between two fields.
  var separator = UInt8(ascii: ",")
  /// What stands before a quotation mark within a quoted field.
  var escape = UInt8(ascii: "\"")
  /// Whether each separator is followed by a space that belongs to no field.
  var isSpaced = false
  /// Whether a carriage return alone ends a line.
  var hasLoneReturns = false
  /// The position of the line with the names of the columns, and the number of that line.
  var start = 0
  var firstLine = 1
  /// Whether Firefox's Password Exporter has written the file. It writes some characters as in an address, such as %22.
  var isOfPasswordExporter = false
}
