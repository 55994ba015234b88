internal import Moving
internal import SecureMemory

/// The entries in the CSV file of a password manager.
struct CSVEntries {
  private let table: CSVTable
  private let layout: CSVLayout
  private var entries: [PasswordEntry] = []
  private var unusable: [UnusableEntry] = []
  /// The columns whose values are not imported.
  private var ignored: [String] = []

  static func read(_ table: CSVTable) throws(ImportError) -> ReadEntries {
    guard !table.records.isEmpty else { throw .malformed("there is nothing in it") }
    var reading = CSVEntries(table, try CSVLayout(of: table))
    for record in table.records.dropFirst(reading.layout.firstEntry) { reading.add(record) }
    return ReadEntries(reading.entries, unusable: reading.unusable, leftOut: reading.leftOut)
  }

  private init(_ table: CSVTable, _ layout: CSVLayout) { (self.table, self.layout) = (table, layout) }

  private var leftOut: [String] {
    guard !ignored.isEmpty else { return [] }
    let names = ignored.map { "'\($0)'" }.joined(separator: ", ")
    return ["of every entry, what is no secret in \(ignored.count == 1 ? "the column" : "the columns") \(names)"]
  }

  private mutating func add(_ record: CSVRecord) {
    let origin = "line \(record.line)"
    switch layout.cells(record, table) {
    case .failure(let problem): unusable.append(UnusableEntry(origin, .source(problem.why)))
    case .success(let cells):
      var building = CSVEntry(origin: origin, table.form, isPath: cells.contains { $0.column == .path })
      for cell in cells where !cell.field.isEmpty {
        if cell.column.isLeftOut, !ignored.contains(cell.name) { ignored.append(cell.name) }
        let value = table.secret(cell.field)
        if let problem = FieldProblem.find(in: value) {
          return unusable.append(UnusableEntry(origin, .field(cell.name, problem)))
        }
        building.add(value, cell.column, named: cell.name)
      }
      if !building.isFolder { entries.append(building.finished) }
    }
  }
}

/// An entry to which one value after the other is added.
private struct CSVEntry {
  private var entry: PasswordEntry
  private var email = ""
  private let form: CSVForm
  /// Whether its title includes its groups.
  private let isPath: Bool
  /// Whether it is a folder instead of an entry.
  private(set) var isFolder = false

  /// What Password Safe writes in place of a full stop in a title, and of a line break in notes.
  private static let guillemet: Character = "»"

  init(origin: String, _ form: CSVForm, isPath: Bool) {
    entry = PasswordEntry(origin: origin)
    (self.form, self.isPath) = (form, isPath)
  }

  /// - Parameter value: in UTF-8, and not empty.
  mutating func add(_ value: borrowing SecretBytes, _ column: CSVColumn, named name: String) {
    func text() -> String { form.isOfPasswordExporter ? value.withoutPercents.plainText ?? "" : value.plainText ?? "" }
    func secret(_ label: String?, _ value: consuming SecretBytes) -> PasswordEntry.Secret {
      PasswordEntry.Secret(label: label, value: SharedSecret(value))
    }
    switch column {
    case .title, .account: entry.title = text()
    case .user: entry.user = text()
    case .email: email = text()
    case .url: entry.url = text()
    case .folder: entry.folder = text()
    case .path: addPath(text())
    case .kind: isFolder = ["group", "folder"].contains(text().lowercased())
    case .field(let name): entry.fields[name] = text()
    case .password:
      entry.secrets.insert(secret(nil, form.isOfPasswordExporter ? value.withoutPercents : value.copy()), at: 0)
    case .notes: entry.secrets.append(secret("notes", isPath ? value.withLineBreaks : value.copy()))
    case .oneTimePassword: entry.secrets.append(secret("totp", value.copy()))
    case .other(let label): entry.secrets.append(secret(label, value.copy()))
    case .lines: for (name, value) in value.namedLines { add(value.bytes, .line(named: name), named: name) }
    case .ignored: break
    }
  }

  private mutating func addPath(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    entry.folder = parts.dropLast().joined(separator: "/")
    entry.title = String((parts.last ?? "").map { $0 == Self.guillemet ? "." : $0 })
  }

  /// Uses the e-mail address as the account if there is no user name.
  var finished: PasswordEntry {
    var entry = entry
    if entry.user.isEmpty { entry.user = email } else if !email.isEmpty { entry.fields["email"] = email }
    return entry
  }
}
