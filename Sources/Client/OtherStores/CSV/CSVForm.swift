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
