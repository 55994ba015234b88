/// What a column of a password manager's CSV file holds, by the name that the first line gives it.
enum CSVColumn: Hashable {
  case title, user, password, url, folder, notes, oneTimePassword
  /// Dates and other details that do not belong into a store.
  case ignored
  /// A column that is not known. Its values may be secret.
  case other(String)

  init(named name: String) {
    // Compare letters and digits alone: "Login Name", "login_username" and "loginUsername" are all in use.
    let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
    self = Self.known[plain] ?? .other(name.lowercased())
  }

  private static let known: [String: CSVColumn] = {
    let names: [CSVColumn: [String]] = [
      .title: ["title", "name"],
      .user: ["username", "user", "login", "loginname", "loginusername"],
      .password: ["password", "loginpassword"],
      .url: ["url", "uri", "loginuri", "website", "web"],
      .folder: ["group", "folder", "grouping"],
      .notes: ["notes", "note", "extra", "comments"],
      .oneTimePassword: ["totp", "logintotp", "otpauth", "otp"],
      .ignored: [
        "icon", "lastmodified", "created", "favorite", "fav", "type", "reprompt", "archived", "tags", "httprealm",
        "formactionorigin", "guid", "timecreated", "timelastused", "timepasswordchanged",
      ],
    ]
    return Dictionary(uniqueKeysWithValues: names.flatMap { column, names in names.map { ($0, column) } })
  }()
}
