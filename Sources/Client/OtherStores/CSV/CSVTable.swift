internal import SecureMemory
internal import Whorl

/// A file of comma-separated values (RFC 4180) in locked memory. Fields are positions in it, and secrets are only ever
/// copied into locked memory.
struct CSVTable: Sendable {
  /// The position of a field's first byte, and the position after its last byte, without quotation marks.
  struct Field: Sendable {
    var start: Int
    var end: Int
    /// How many quotation marks in it are written twice.
    var doubledMarks = 0
  }

  struct Record: Sendable {
    /// The line it begins on, from 1 on.
    var line: Int
    var fields: [Field]
  }

  private let bytes: SharedSecret
  let records: [Record]

  init(_ bytes: consuming SecretBytes) throws(ImportError) {
    let shared = SharedSecret(bytes)
    self.bytes = shared
    records = try shared.bytes.withUnsafeBytes { (buffer) throws(ImportError) in
      var reading = CSVReading(buffer)
      return try reading.records()
    }
  }

  /// The contents of a field; empty for a field that a record does not have.
  func secret(_ field: Field) -> SecretBytes {
    var value = SecretBytes(count: field.end - field.start - field.doubledMarks)
    copy(field, into: &value)
    return value
  }

  /// The text of a field that is not secret; nil where it is not UTF-8.
  func text(_ field: Field) -> String? {
    secret(field).withUnsafeBytes { String(validating: $0, as: UTF8.self) }
  }

  private func copy(_ field: Field, into value: inout SecretBytes) {
    value.withUnsafeMutableBytes { target in
      bytes.bytes.withUnsafeBytes { source in
        var written = 0
        var index = field.start
        while index < field.end {
          target[written] = source[index]
          written += 1
          // Two quotation marks stand for one: skip the second.
          index += field.doubledMarks > 0 && source[index] == UInt8(ascii: "\"") ? 2 : 1
        }
      }
    }
  }
}
