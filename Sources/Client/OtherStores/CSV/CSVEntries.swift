internal import SecureMemory
internal import Whorl

/// The entries in the CSV file of a password manager.
enum CSVEntries {
  static func read(_ table: CSVTable) throws(ImportError) -> ReadEntries {
    guard let head = table.records.first else { throw .malformed("there is nothing in it") }
    let columns = columns(of: head, table)
    guard columns.contains(.password) else {
      throw .malformed("line \(head.line) names no column 'password': the first line has to name the columns")
    }
    var entries: [PasswordEntry] = []
    var unusable: [UnusableEntry] = []
    for record in table.records.dropFirst() {
      let origin = "line \(record.line)"
      guard record.fields.count == columns.count else {
        let why = "has \(record.fields.count) fields, and the first line names \(columns.count)"
        unusable.append(UnusableEntry(origin, .source(why)))
        continue
      }
      guard let entry = entry(PasswordEntry(origin: origin), columns, record, table) else {
        unusable.append(UnusableEntry(origin, .source("is not in UTF-8")))
        continue
      }
      entries.append(entry)
    }
    return ReadEntries(entries, unusable: unusable)
  }

  /// If two columns are of one kind, the second is treated as an unknown column with its own name.
  private static func columns(of head: CSVTable.Record, _ table: CSVTable) -> [CSVColumn] {
    var seen: Set<CSVColumn> = []
    return head.fields.map { field in
      let name = table.text(field) ?? ""
      let column = CSVColumn(named: name)
      return column == .ignored || seen.insert(column).inserted ? column : .other(name.lowercased())
    }
  }

  /// Nil where a text is not UTF-8.
  private static func entry(
    _ empty: PasswordEntry, _ columns: [CSVColumn], _ record: CSVTable.Record, _ table: CSVTable
  ) -> PasswordEntry? {
    var entry = empty
    for (column, field) in zip(columns, record.fields) {
      func secret(_ label: String?) -> PasswordEntry.Secret {
        PasswordEntry.Secret(label: label, value: SharedSecret(table.secret(field)))
      }
      var target: WritableKeyPath<PasswordEntry, String>?
      switch column {
      case .title: target = \.title
      case .user: target = \.user
      case .url: target = \.url
      case .folder: target = \.folder
      case .password: entry.secrets.insert(secret(nil), at: 0)
      case .notes: entry.secrets.append(secret("notes"))
      case .oneTimePassword: entry.secrets.append(secret("totp"))
      case .other(let name): entry.secrets.append(secret(name))
      case .ignored: break
      }
      guard let target else { continue }
      guard let text = table.text(field) else { return nil }
      entry[keyPath: target] = text
    }
    return entry
  }
}
