internal import Moving

/// How the values of a file are labelled.
enum CSVLayout {
  /// A value of a line and its kind.
  struct Cell {
    var column: CSVColumn
    /// The name of its column.
    var name: String
    var field: CSVField
  }

  /// The first line names the columns.
  case columns([(column: CSVColumn, name: String)])
  /// Each line has a title, alternating names and values, and perhaps a note, as in Enpass.
  ///
  /// - Parameter firstEntry: the first record with an entry.
  case pairs(firstEntry: Int)

  /// - Parameter table: has at least one record.
  init(of table: CSVTable) throws(ImportError) {
    let head = table.records[0]
    if let firstEntry = Self.firstEntryOfPairs(in: table) {
      self = .pairs(firstEntry: firstEntry)
      return
    }
    var named: [(column: CSVColumn, name: String)] = []
    for (place, field) in head.fields.enumerated() {
      guard let name = table.text(field) else {
        throw .malformed("line \(head.line): the name of column \(place + 1) is not in UTF-8")
      }
      let shown = name.isEmpty ? "column \(place + 1)" : name
      named.append((Self.column(CSVColumn(named: name), shown, after: named.map(\.column)), shown))
    }
    Self.interpretAccount(&named)
    let holdsSecrets = named.contains { $0.column == .password || $0.column == .lines }
    guard holdsSecrets else {
      throw .malformed(
        "line \(head.line) names no column 'password'. Where the program writes no line with the names, as Keeper and "
          + "mSecure do, put one in front, such as folder,title,login,password,url,notes")
    }
    guard table.records.count > 1 else {
      throw .malformed("line \(head.line) is read as the names of the columns, and no entry follows it")
    }
    self = .columns(named)
  }

  /// The first record with an entry.
  var firstEntry: Int { if case .pairs(let firstEntry) = self { firstEntry } else { 1 } }

  /// If two columns are of one kind, the second is treated as an unknown column with its own name.
  private static func column(_ column: CSVColumn, _ shown: String, after before: [CSVColumn]) -> CSVColumn {
    switch column {
    case .other: return .other(shown.lowercased())
    case .ignored, .field, .lines: return column
    default: break
    }
    guard before.contains(column) else { return column }
    // Buttercup names its folders twice.
    return column == .folder || column == .kind ? .ignored(shown.lowercased()) : .other(shown.lowercased())
  }

  /// KeePass 1 calls the title an account, and other programs the user.
  private static func interpretAccount(_ named: inout [(column: CSVColumn, name: String)]) {
    guard let place = named.firstIndex(where: { $0.column == .account }) else { return }
    func has(_ column: CSVColumn) -> Bool { named.contains { $0.column == column } }
    if !has(.title), !has(.path), has(.user) || !has(.url) {
      named[place].column = .title
    } else {
      named[place].column = has(.user) ? .field("account") : .user
    }
  }

  // MARK: Names and values in turn

  /// Not nil if the first line says so, or if later lines have the word "password" instead of a name.
  private static func firstEntryOfPairs(in table: CSVTable) -> Int? {
    let words = ["title", "field", "value"]
    let head = table.records[0].fields
    if head.count >= 3, zip(head, words).allSatisfy({ table.isWord($0, $1) }) { return 1 }
    let lines = table.records.prefix(100).count { record in
      (1..<max(1, record.fields.count)).contains { $0 % 2 == 1 && table.isWord(record.fields[$0], "password") }
    }
    return lines > 1 ? 0 : nil
  }

  // MARK: Lines

  /// The values of a line, or why it cannot be read, as the words after "it".
  func cells(_ record: CSVRecord, _ table: CSVTable) -> Result<[Cell], UnreadableLine> {
    switch self {
    case .columns(let named): Self.cells(record, named)
    case .pairs: Self.cells(record, table)
    }
  }

  struct UnreadableLine: Error { var why: String }

  private static func cells(
    _ record: CSVRecord, _ named: [(column: CSVColumn, name: String)]
  ) -> Result<[Cell], UnreadableLine> {
    // Programs leave out empty fields at the end of a line.
    var cells = zip(named, record.fields).map { Cell(column: $0.column, name: $0.name, field: $1) }
    let further = record.fields.dropFirst(named.count)
    guard !further.allSatisfy(\.isEmpty) else { return .success(cells) }
    // The last column of RoboForm and Keeper repeats for any number of fields.
    let last = named[named.count - 1].name.lowercased().filter(\.isLetter)
    guard ["rffields", "rffieldsv", "customfields"].contains(last) else {
      let why = "has \(record.fields.count) fields, and the first line names \(named.count)"
      return .failure(UnreadableLine(why: why))
    }
    cells += further.map { Cell(column: named[named.count - 1].column, name: named[named.count - 1].name, field: $0) }
    return .success(cells)
  }

  private static func cells(_ record: CSVRecord, _ table: CSVTable) -> Result<[Cell], UnreadableLine> {
    let fields = record.fields
    var cells = [Cell(column: .title, name: "title", field: fields[0])]
    var place = 1
    while place + 1 < fields.count {
      guard let name = table.text(fields[place]) else {
        return .failure(UnreadableLine(why: "has a name of a field that is not in UTF-8"))
      }
      cells.append(
        Cell(
          column: column(.line(named: name), name, after: cells.map(\.column)), name: name, field: fields[place + 1]))
      place += 2
    }
    if place < fields.count { cells.append(Cell(column: .notes, name: "note", field: fields[place])) }
    return .success(cells)
  }
}
