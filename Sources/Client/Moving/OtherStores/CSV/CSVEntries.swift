// The entries of a CSV file, and the program that wrote it.

internal import Primitives

/// The entries in the CSV file of a password manager.
struct CSVEntries {
  private let table: CSVTable
  private let layout: CSVLayout
  private var entries: [PasswordEntry] = []
  private var unusable: [UnusableEntry] = []
  /// The columns whose values are not imported, in the order in which they were found.
  private var ignored: [String] = []
  private var ignoredNames: Set<String> = []

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
      let isPath = cells.contains { $0.column == .path }
      var building = CSVEntry(origin: origin, table.form, layout.labels, isPath: isPath)
      for cell in cells where !cell.field.isEmpty {
        if cell.column.isLeftOut, ignoredNames.insert(cell.name).inserted { ignored.append(cell.name) }
        let value = table.secret(cell.field)
        if let problem = problem(of: value, in: cell.column) ?? building.add(value, cell.column) {
          return unusable.append(UnusableEntry(origin, .field(cell.name, problem)))
        }
      }
      if !building.isFolder { entries.append(building.finished) }
    }
  }

  private func problem(of value: borrowing SecretBytes, in column: CSVColumn) -> String? {
    guard !column.isLeftOut else { return nil }
    let isWebPage = layout.isOfLastPass || [.password, .user, .oneTimePassword].contains(column)
    return FieldProblem.find(in: value, isWebPage ? .webPage : .ordinary)
  }
}

/// An entry to which one value after the other is added.
private struct CSVEntry {
  private var entry: PasswordEntry
  private var email = ""
  private var labels: CSVLabels
  private let form: CSVForm
  /// Whether its title includes its groups.
  private let isPath: Bool
  /// Whether its line says that it is a folder.
  private var isSaidToBeFolder = false

  /// What Password Safe writes in place of a full stop in a title, and of a line break in notes.
  private static let guillemet: Character = "»"

  /// - Parameter labels: those of the file's columns, which named lines within a field continue.
  init(origin: String, _ form: CSVForm, _ labels: CSVLabels, isPath: Bool) {
    entry = PasswordEntry(origin: origin)
    (self.form, self.labels, self.isPath) = (form, labels, isPath)
  }

  /// Adds a value, or returns why it cannot be read, as the words after the name of its column.
  ///
  /// - Parameter value: in UTF-8, and not empty.
  mutating func add(_ value: borrowing SecretBytes, _ column: CSVColumn) -> String? {
    func text() -> String { form.isOfPasswordExporter ? value.withoutPercents.plainText ?? "" : value.plainText ?? "" }
    func secret(_ value: consuming SecretBytes) -> PasswordEntry.Secret {
      PasswordEntry.Secret(label: column.label, value: SharedSecret(value))
    }
    switch column {
    case .title, .account: entry.title = text()
    case .user: entry.user = text()
    case .email: email = text()
    case .url: entry.add(addresses: text())
    case .folder: entry.folder = text()
    case .path: addPath(text())
    case .kind: isSaidToBeFolder = ["group", "folder"].contains(text().lowercased())
    case .field(let name): entry.fields[name] = text()
    case .password:
      entry.secrets.insert(secret(form.isOfPasswordExporter ? value.withoutPercents : value.copy()), at: 0)
    case .notes: entry.secrets.append(secret(isPath ? value.withLineBreaks : value.copy()))
    case .oneTimePassword, .other: entry.secrets.append(secret(value.copy()))
    case .lines:
      guard let lines = value.namedLines else {
        return "has more than \(SecretBytes.mostNamedLines) lines, or a line with a long name"
      }
      for line in lines {
        let column = labels.next(.line(named: line.name), named: line.name)
        if !line.value.bytes.isEmpty { _ = add(line.value.bytes, column) }
      }
    case .ignored: break
    }
    return nil
  }

  /// Whether it is a folder and not an entry: its line says so, or names nothing but a folder, and has no secret.
  var isFolder: Bool {
    guard entry.secrets.isEmpty else { return false }
    // LastPass writes this address for a folder.
    let isFolderOfLastPass = entry.url == "http://group"
    let isNamed = !(entry.title.isEmpty && entry.user.isEmpty && entry.url.isEmpty && email.isEmpty)
    return isSaidToBeFolder || isFolderOfLastPass || !isNamed && entry.fields.isEmpty && !entry.folder.isEmpty
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

// Detects the format of a file.
extension CSVForm {
  private static let separators = ",;\t|".utf8
  /// The most lines that are read in front of the header.
  private static let longestPreamble = 8

  /// Detects it from the beginning of the file.
  init(of bytes: UnsafeRawBufferPointer) throws(ImportError) {
    self.init()
    if bytes.starts(with: FileText.utf8Mark) { start = FileText.utf8Mark.count }
    hasLoneReturns = !bytes.contains(UInt8(ascii: "\n"))
    let isSaid = try readPreamble(bytes)
    // KeePass 1, and KeePass 2 in the form of KeePass 1, write \" and \\ in fields.
    let keepass = #""Account","Login Name","Password","Web Site","Comments""#
    if bytes[start...].starts(with: keepass.utf8) { escape = UInt8(ascii: "\\") }
    if !isSaid { separator = try likeliestSeparator(bytes) }
    let head = try Self.head(bytes, self)
    isSpaced = head.fields.count > 1 && head.fields.dropFirst().allSatisfy(\.followsBlank)
  }

  /// Reads the lines before the header. True if one of them names the separator.
  private mutating func readPreamble(_ bytes: UnsafeRawBufferPointer) throws(ImportError) -> Bool {
    let lineEnds: [UInt8] = hasLoneReturns ? [0x0D] : [0x0A]
    func line() -> Slice<UnsafeRawBufferPointer> { bytes[start...].prefix { !lineEnds.contains($0) } }
    var isSaid = false
    for _ in 0..<Self.longestPreamble {
      let length = line().count
      // Text of the file's first lines, which hold no secrets.
      let text = length <= 200 ? String(decoding: line(), as: UTF8.self) : ""
      let plain = text.filter { $0 != "\"" && $0 != "\r" }
      if plain.lowercased().hasPrefix("sep="), let named = plain.dropFirst(4).utf8.first, plain.utf8.count == 5 {
        separator = named
        isSaid = true
      } else if text.hasPrefix("# Generated by Password Exporter") {
        guard !text.lowercased().contains("encrypted: true") else {
          throw .malformed("its passwords are encoded: have Password Exporter export them without")
        }
        isOfPasswordExporter = true
      } else {
        return isSaid
      }
      start = min(start + length + 1, bytes.count)
      firstLine += 1
    }
    return isSaid
  }

  /// The separator that gives the header the most known columns.
  private func likeliestSeparator(_ bytes: UnsafeRawBufferPointer) throws(ImportError) -> UInt8 {
    var best: (separator: UInt8, known: Int)?
    var problem: ImportError?
    let tooWide = CSVReading.tooWide(line: firstLine)
    for separator in Self.separators {
      var form = self
      form.separator = separator
      do throws(ImportError) {
        let head = try Self.head(bytes, form)
        let known = head.fields.count { field in
          guard field.end - field.start <= CSVColumn.longestName else { return false }
          let name = UnsafeRawBufferPointer(rebasing: bytes[field.start..<field.end])
          return CSVColumn(named: String(decoding: name, as: UTF8.self)).isKnown
        }
        if known > best?.known ?? -1 { best = (separator, known) }
      } catch {
        problem = problem == tooWide ? problem : error == tooWide ? error : problem ?? error
      }
    }
    if let problem, best == nil || best?.known == 0 && problem == tooWide { throw problem }
    return best?.separator ?? separator
  }

  private static func head(_ bytes: UnsafeRawBufferPointer, _ form: CSVForm) throws(ImportError) -> CSVRecord {
    var reading = CSVReading(bytes, form)
    return try reading.record()
  }
}
