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
        "secreturl",
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
    "username2", "username3", "tags", "additionalurls", "matchurl", "sharedfolder", "httprealm",
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
