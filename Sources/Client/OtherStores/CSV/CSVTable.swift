internal import Moving
internal import SecureMemory

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
