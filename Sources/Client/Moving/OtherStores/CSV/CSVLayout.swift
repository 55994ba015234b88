// What the columns of a CSV file hold.

internal import Primitives
internal import SecretModel

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
  ///
  /// - Parameter labels: what a further column of a line continues.
  case columns([(column: CSVColumn, name: String)], labels: CSVLabels)
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
    var labels = CSVLabels()
    for (place, field) in head.fields.enumerated() {
      guard field.end - field.start <= CSVColumn.longestName else {
        throw .malformed(
          "line \(head.line) has no names of columns: column \(place + 1) has more than \(CSVColumn.longestName) bytes")
      }
      guard let name = table.text(field) else {
        throw .malformed("line \(head.line): the name of column \(place + 1) is not in UTF-8")
      }
      let shown = Self.shown(name, place)
      named.append((labels.next(CSVColumn(named: name), named: shown), shown))
    }
    Self.interpretAccount(&named)
    Self.interpretTitle(&named, &labels)
    try Self.check(named.map(\.column), onLine: head.line)
    guard table.records.count > 1 else {
      throw .malformed("line \(head.line) is read as the names of the columns, and no entry follows it")
    }
    self = .columns(named, labels: labels)
  }

  /// The first record with an entry.
  var firstEntry: Int { if case .pairs(let firstEntry) = self { firstEntry } else { 1 } }

  /// Whether the columns are those of LastPass, which may write characters as web pages do.
  var isOfLastPass: Bool {
    guard case .columns(let named, _) = self else { return false }
    let names = Set(named.map { $0.name.lowercased() })
    return names.contains("extra") && names.contains("grouping")
  }

  /// The labels that further values of a line continue.
  var labels: CSVLabels { if case .columns(_, let labels) = self { labels } else { CSVLabels() } }

  /// The name of a column on one line; its number if it has none.
  private static func shown(_ name: String, _ place: Int) -> String {
    let words = name.split { $0.isWhitespace || $0.isNewline || String($0).hasControlCharacters }
    return words.isEmpty ? "column \(place + 1)" : words.joined(separator: " ")
  }

  /// Refuses a first line that names no column of secrets, as that of a file without names.
  private static func check(_ columns: [CSVColumn], onLine line: Int) throws(ImportError) {
    let known = Set(columns)
    guard known.isDisjoint(with: [.password, .lines]) else { return }
    let hasName = !known.isDisjoint(with: [.title, .path, .url])
    // A file of notes or cards alone. One known column may be a word of an entry, two are not.
    if hasName, !known.isDisjoint(with: [.notes, .oneTimePassword, .kind]), columns.contains(where: \.isSecret) {
      return
    }
    if hasName, !known.isDisjoint(with: [.user, .email, .account, .notes, .folder]) {
      throw .malformed(
        "line \(line) names no column 'password', and none with notes either: there is nothing secret in it to import")
    }
    throw .malformed(
      "line \(line) names no column 'password'. Where the program writes no line with the names, as Keeper and "
        + "mSecure do, put one in front, such as folder,title,login,password,url,notes")
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

  /// Dashlane's file of personal data has forms of address under "title", and titles under "item_name".
  private static func interpretTitle(_ named: inout [(column: CSVColumn, name: String)], _ labels: inout CSVLabels) {
    guard let place = named.firstIndex(where: { $0.column == .other("item_name") }),
      let title = named.firstIndex(where: { $0.column == .title })
    else { return }
    named[place].column = .title
    named[title].column = labels.next(.other(named[title].name), named: named[title].name)
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
    case .columns(let named, let labels): Self.cells(record, named, labels)
    case .pairs: Self.cells(record, table)
    }
  }

  struct UnreadableLine: Error { var why: String }

  private static func cells(
    _ record: CSVRecord, _ named: [(column: CSVColumn, name: String)], _ labels: CSVLabels
  ) -> Result<[Cell], UnreadableLine> {
    // Programs leave out empty fields at the end of a line.
    var cells = zip(named, record.fields).map { Cell(column: $0.column, name: $0.name, field: $1) }
    let further = record.fields.dropFirst(named.count)
    guard !further.allSatisfy(\.isEmpty) else { return .success(cells) }
    // The last column of RoboForm and Keeper repeats for any number of fields.
    let last = named[named.count - 1]
    guard ["rffields", "rffieldsv", "customfields"].contains(last.name.lowercased().filter(\.isLetter)) else {
      let why = "has \(record.fields.count) fields, and the first line names \(named.count)"
      return .failure(UnreadableLine(why: why))
    }
    var labels = labels
    cells += further.map {
      Cell(column: labels.next(.other(last.name), named: last.name), name: last.name, field: $0)
    }
    return .success(cells)
  }

  private static func cells(_ record: CSVRecord, _ table: CSVTable) -> Result<[Cell], UnreadableLine> {
    let fields = record.fields
    var labels = CSVLabels()
    var cells = [Cell(column: labels.next(.title, named: "title"), name: "title", field: fields[0])]
    // An odd field at the end is the note, whose label a field of that name must not take.
    let hasNote = fields.count % 2 == 0
    if hasNote {
      cells.append(Cell(column: labels.next(.notes, named: "note"), name: "note", field: fields[fields.count - 1]))
    }
    for place in stride(from: 1, to: fields.count - 1, by: 2) {
      guard fields[place].end - fields[place].start <= CSVColumn.longestName, let name = table.text(fields[place])
      else {
        let why = "has a name of a field that is not in UTF-8, or has more than \(CSVColumn.longestName) bytes"
        return .failure(UnreadableLine(why: why))
      }
      let shown = shown(name, place)
      cells.append(
        Cell(column: labels.next(.line(named: name), named: shown), name: shown, field: fields[place + 1]))
    }
    return .success(cells)
  }
}

/// The content of a column of a password manager's CSV file, by its name in the header.
///
/// The names are those that the programs write; `ExporterTests` has a file of each.
enum CSVColumn: Hashable {
  case title, user, email, password, url, folder, notes, oneTimePassword
  /// The title in KeePass 1, and the user elsewhere.
  case account
  /// Groups and a title separated by full stops, as in Password Safe.
  case path
  /// Lines of a name, a colon and a value, as Zoho Vault has them.
  case lines
  /// Whether the line is a folder instead of an entry, as in NordPass and Buttercup.
  case kind
  /// A value that is not secret and is kept with the entry.
  case field(String)
  /// Dates and flags of the other program, which are not imported.
  case ignored(String)
  /// An unknown column. Its values may be secret.
  case other(String)

  /// The longest name that is read, in bytes.
  static let longestName = 1_000

  init(named name: String) {
    let shown = name.split(separator: " ").joined(separator: " ").lowercased()
    // Compare letters and digits alone: "Login Name", "login_username" and "loginUsername" are all in use.
    let plain = shown.filter { $0.isLetter || $0.isNumber }
    if let known = Self.known[plain] {
      self = known
    } else if Self.fields.contains(plain) {
      self = .field(shown)
    } else {
      self = Self.ignored.contains(plain) ? .ignored(shown) : .other(shown)
    }
  }

  /// The kind of a value with its own name inside an entry. Excludes kinds that only make sense for a whole column, and
  /// columns that are ignored: the person may have made a field of that name.
  static func line(named name: String) -> CSVColumn {
    let column = CSVColumn(named: name)
    return switch column {
    case .ignored("secrettype"): column
    case .account, .path, .lines, .kind, .ignored: .other(name.lowercased())
    default: column
    }
  }

  /// What follows the entry's name in that of an item with its values; nil if they get no item or the entry's own name.
  var label: String? {
    switch self {
    case .notes: "notes"
    case .oneTimePassword: "totp"
    case .other(let label): label
    default: nil
    }
  }

  /// Whether its values are not imported.
  var isLeftOut: Bool {
    switch self {
    case .kind, .ignored: true
    default: false
    }
  }

  var isKnown: Bool { if case .other = self { false } else { true } }

  /// Whether its values are secrets.
  var isSecret: Bool { self == .password || label != nil }

  private static let known: [String: CSVColumn] = {
    let names: [CSVColumn: [String]] = [
      .title: ["title", "name", "passwordname", "secretname"],
      .user: ["username", "user", "login", "loginname", "loginusername"],
      .email: ["email"],
      .password: ["password", "loginpassword", "pwd"],
      .url: [
        "url", "uri", "loginuri", "website", "web", "websiteaddress", "hostname", "loginurl", "passwordurl",
        "secreturl", "additionalurls",
      ],
      .folder: [
        "group", "folder", "grouping", "vault", "category", "groupname", "foldername", "chambername", "collections",
        "grouptree",
      ],
      .notes: ["notes", "note", "extra", "comments", "comment"],
      .oneTimePassword: ["totp", "logintotp", "otpauth", "otp", "otpurl", "otpsecret"],
      .account: ["account"],
      .path: ["grouptitle"],
      .lines: ["secretdata", "customdata"],
      .kind: ["type"],
    ]
    return Dictionary(uniqueKeysWithValues: names.flatMap { column, names in names.map { ($0, column) } })
  }()

  private static let fields: Set<String> = [
    "username2", "username3", "tags", "matchurl", "sharedfolder", "httprealm",
  ]

  private static let ignored: Set<String> = [
    "icon", "lastmodified", "created", "favorite", "fav", "reprompt", "archived", "archiveddate", "formactionorigin",
    "formsubmiturl", "usernamefield", "passwordfield", "guid", "id", "uuid", "groupid", "groupparent", "timecreated",
    "timelastused", "timepasswordchanged", "createtime", "modifytime", "createdtime", "passwordmodifiedtime",
    "lastaccesstime", "passwordexpirydate", "passwordexpiryinterval", "recordmodifiedtime", "passwordpolicy",
    "passwordpolicyname", "dca", "shiftdca", "protected", "symbols", "keyboardshortcut", "classification",
    "creationtime", "lastaccess", "lastmodification", "expires", "secrettype",
  ]
}

/// Says how the columns of an entry count beside each other, so that each of its values has a label of its own.
///
/// A label follows from the names of the columns alone, and never from which of them are empty on a line.
struct CSVLabels: Sendable {
  private var taken: Set<CSVColumn> = []
  private var numbers = LabelNumbers()

  /// The next column. Of two columns of one kind, the second counts as an unknown one with its own name; of two unknown
  /// columns with one name, the second is numbered.
  mutating func next(_ column: CSVColumn, named name: String) -> CSVColumn {
    switch column {
    // An entry keeps all of its addresses.
    case .ignored, .lines, .url: return column
    case .other: return .other(numbers.next(name.lowercased()))
    default: break
    }
    guard taken.insert(column).inserted else {
      // Buttercup names its folders twice.
      return column == .folder || column == .kind
        ? .ignored(name.lowercased()) : .other(numbers.next(name.lowercased()))
    }
    if let label = column.label { _ = numbers.next(label) }
    return column
  }
}

// Decodes values that some programs encode within a field, in locked memory.

extension SecretBytes {
  /// The most lines that are read of one field.
  static let mostNamedLines = 1_000

  /// Lines of a name, a colon and a value, as Zoho Vault has them, also those without a value. A line without a colon
  /// belongs to the value before it. Nil if there are more than ``mostNamedLines``, or one
  /// with a name that is too long.
  var namedLines: [(name: String, value: SharedSecret)]? {
    borrowing get {
      withUnsafeBytes { bytes in
        var lines: [(name: String, range: Range<Int>)] = []
        for whole in bytes.split(separator: UInt8(ascii: "\n"), maxSplits: Self.mostNamedLines) {
          guard lines.count < Self.mostNamedLines else { return nil }
          let line = whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole
          guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            if let last = lines.popLast() {
              lines.append((last.name, last.range.lowerBound..<line.endIndex))
            } else {
              lines.append(("notes", line.startIndex..<line.endIndex))
            }
            continue
          }
          guard colon - line.startIndex <= CSVColumn.longestName else { return nil }
          let name = String(decoding: line[..<colon], as: UTF8.self)
          lines.append((name, (colon + 1)..<line.endIndex))
        }
        return lines.map { name, range in
          (name, SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[range]))))
        }
      }
    }
  }

  /// Decodes Password Exporter's %22, %25, %26 and %3C.
  var withoutPercents: SecretBytes {
    borrowing get { replacing(["%22": "\"", "%25": "%", "%26": "&", "%3C": "<", "%3c": "<"]) }
  }

  /// Replaces each » with a line break, for which Password Safe writes it.
  var withLineBreaks: SecretBytes { borrowing get { replacing(["»": "\n"]) } }

  /// Replaces texts. No replacement may be longer than its original.
  private borrowing func replacing(_ texts: [String: String]) -> SecretBytes {
    let pairs = texts.map { (Array($0.utf8), Array($1.utf8)) }
    var result = copy()
    var count = 0
    withUnsafeBytes { source in
      result.withUnsafeMutableBytes { target in
        var index = 0
        while index < source.count {
          let pair = pairs.first { source[index...].starts(with: $0.0) }
          for byte in pair?.1 ?? [source[index]] {
            target[count] = byte
            count += 1
          }
          index += pair?.0.count ?? 1
        }
      }
    }
    result.resize(to: count)
    return result
  }
}
