internal import Glibc
internal import Primitives

/// A file that is no text of entries: an archive, a vault or a document. Each is told what it is, and which export of its
/// program works.
enum RefusedFormat {
  /// What the file is, and what to do with it; nil for one that may be a text of entries.
  ///
  /// - Parameters:
  ///   - bytes: the file, or its beginning.
  ///   - path: of the file, where it is known.
  static func words(for bytes: UnsafeRawBufferPointer, at path: String?) -> String? {
    of(bytes) ?? path.flatMap { of(path: $0) }
  }

  // MARK: By the name

  /// The same for what only the end of its name tells.
  static func of(path: String) -> String? {
    let name = path.split(separator: "/").last.map { $0.lowercased() } ?? ""
    return endings.first { name.hasSuffix(".\($0.0)") }?.1
  }

  private static let onePassword =
    "it is of 1Password, and not its export as text: export it there as CSV, or as 1PUX, of which --from json reads export.data"
  private static let archiveOfOnePassword =
    "it is a ZIP archive of 1Password (1PUX): --from json reads the file export.data in it, as in "
    + "'unzip -p FILE export.data | whorl import --from json -'"
  private static let enpass = "it is a vault of Enpass: export it there as CSV"
  private static let roboForm = "it is of RoboForm, and not its export as text: export it there as CSV"
  private static let sticky = "it is a database of Sticky Password: export it there as CSV"
  private static let packed = "it is an archive: unpack it, and name a CSV file of it"
  private static let gnupg =
    "it is encrypted by GnuPG: decrypt it first, as in 'gpg --decrypt FILE | whorl import --from csv -'"
  private static let age =
    "it is encrypted by age: leave --from out for an export of whorl, and for another decrypt it first, as in "
    + "'age --decrypt FILE | whorl import --from csv -'"
  private static let keepass = "it is a database of KeePass: export it there as XML or CSV"
  private static let passwordSafe = "it is a database of Password Safe: export it there as plain text"
  private static let buttercup = "it is a vault of Buttercup: export it there as CSV"
  private static let apple = "it is a keychain of Apple's: export it in the app Passwords, or in Safari, as CSV"
  private static let database = "it is a database: have its program export it as CSV"
  private static let sheet = "it is a workbook of a spreadsheet: have the password manager export CSV, and import that"
  private static let page = "it is a web page: have its program export CSV"
  private static let printed = "it is a document to print: have its program export CSV"

  private static let endings: [(String, String)] = [
    ("1pux", archiveOfOnePassword), ("1pif", onePassword), ("opvault", onePassword), ("agilekeychain", onePassword),
    ("onepassword", onePassword), ("dash", "it is Dashlane's own archive, and encrypted: export it there as CSV"),
    ("enpassdb", enpass), ("enpassdbsync", enpass), ("enpassbackup", enpass), ("walletx", enpass), ("enpass", enpass),
    ("psafe3", passwordSafe), ("psafe4", passwordSafe), ("kdbx", keepass), ("kdb", keepass), ("bcup", buttercup),
    ("rfo", roboForm), ("rfx", roboForm), ("rfp", roboForm), ("rfn", roboForm), ("spdb", sticky), ("spb", sticky),
    ("gpg", gnupg), ("pgp", gnupg), ("age", age), ("zip", packed), ("7z", packed), ("rar", packed), ("tar", packed),
    ("gz", packed), ("tgz", packed), ("bz2", packed), ("xz", packed), ("zst", packed), ("xlsx", sheet), ("xls", sheet),
    ("ods", sheet), ("numbers", sheet), ("pdf", printed), ("html", page), ("htm", page), ("keychain", apple),
    ("keychain-db", apple), ("sqlite", database), ("sqlite3", database), ("db", database),
  ]

  // MARK: By the contents

  private static func of(_ bytes: UnsafeRawBufferPointer) -> String? {
    if bytes.starts(with: "PK\u{3}\u{4}".utf8) || bytes.starts(with: "PK\u{5}\u{6}".utf8) { return archive(bytes) }
    if let found = beginnings.first(where: { bytes.starts(with: $0.0) }) { return found.1 }
    let marked = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let text = UnsafeRawBufferPointer(rebasing: bytes[marked...].drop { " \t\r\n".utf8.contains($0) })
    if let found = textBeginnings.first(where: { text.starts(with: $0.0.utf8) }) { return found.1 }
    return isJSON(text) ? json(text) : markup(text)
  }

  private static let beginnings: [([UInt8], String)] = [
    ([0x03, 0xD9, 0xA2, 0x9A], keepass), (Array("PWS3".utf8), passwordSafe),
    (Array("SQLite format 3".utf8), database), ([0xFF, 0xFE, 0, 0], "it is in UTF-32: save it in UTF-8"),
    ([0, 0, 0xFE, 0xFF], "it is in UTF-32: save it in UTF-8"), ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], packed),
    (Array("Rar!".utf8), packed), ([0x1F, 0x8B], packed), (Array("BZh".utf8) + [0x39], packed),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A], packed), ([0x28, 0xB5, 0x2F, 0xFD], packed), (Array("%PDF-".utf8), printed),
    // The workbooks of old Excel.
    ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], sheet), (Array("kych".utf8), apple),
    (Array("bplist00".utf8), apple), (Array("b~>buttercup/".utf8), buttercup),
    (Array("Salted__".utf8), "it is encrypted by OpenSSL: decrypt it first"),
  ]

  /// The same for texts, which may begin with blanks.
  private static let textBeginnings: [(String, String)] = [
    ("age-encryption.org/", age),
    ("-----BEGIN AGE ", "it is encrypted by age, in its form for text: 'age --decrypt' opens it"),
    ("-----BEGIN PGP MESSAGE", gnupg), ("-----BEGIN ", "it is encrypted, or a key, and no export: decrypt it first"),
    ("***5642bee8-a5ff-11dc-8314-0800200c9a66***", onePassword),
  ]

  /// The names of the files in a ZIP archive stand in it as they are.
  private static func archive(_ bytes: UnsafeRawBufferPointer) -> String {
    let known: [([String], String)] = [
      (["export.attributes", "export.data"], archiveOfOnePassword),
      (
        ["data.pgp"],
        "it is an encrypted archive of Proton Pass: export it there as a ZIP archive without encryption, or as CSV"
      ),
      (
        ["Proton Pass/"],
        "it is a ZIP archive of Proton Pass: unpack it, and import its data.json, which --from json reads"
      ),
      (
        ["credentials.csv"],
        "it is a ZIP archive of Dashlane: unpack it, and import credentials.csv and each other file of it"
      ),
      (["[Content_Types].xml", "opendocument.spreadsheet", "Index/Document.iwa"], sheet),
      (
        ["data.json"],
        "it is a ZIP archive with JSON in it, as Bitwarden's: unpack it, and import its data.json, which --from json reads"
      ),
    ]
    return known.first { $0.0.contains { bytes.contains($0) } }?.1
      ?? "it is a ZIP archive: unpack it, and name a CSV file of it"
  }

  // MARK: JSON

  private static func isJSON(_ text: UnsafeRawBufferPointer) -> Bool {
    let opening = text.first
    guard opening == UInt8(ascii: "{") || opening == UInt8(ascii: "[") else { return false }
    // No first line of CSV begins like this.
    let next = text.dropFirst().first { !" \t\r\n".utf8.contains($0) }
    return opening == UInt8(ascii: "{") || next.map { "{[\"]".utf8.contains($0) } ?? true
  }

  private static func json(_ whole: UnsafeRawBufferPointer) -> String {
    if let foreign = foreignJSON(whole) { return foreign }
    let text = beginning(of: whole)
    let known: [(String, String)] = [
      ("\"encrypted\"", "it is JSON of Bitwarden: --from json reads it"),
      ("\"accounts\"", "it is JSON of 1Password: --from json reads it"),
      ("\"vaults\"", "it is JSON of Proton Pass: --from json reads it"),
    ]
    return known.first { text.contains($0.0) }?.1 ?? "it is JSON: export it as CSV"
  }

  /// Programs write the members that tell them apart near the beginning.
  private static func beginning(of whole: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: whole.prefix(64 << 10))
  }

  /// What a file of JSON is, and what to do with it, of whose entries no JSON is read; nil for others.
  static func foreignJSON(_ whole: UnsafeRawBufferPointer) -> String? {
    let text = beginning(of: whole)
    if text.contains("\"encKeyValidation_DO_NOT_EDIT\"") || text.contains("\"passwordProtected\"")
      || has(text, "encrypted", "true")
    {
      return
        "it is an encrypted export of Bitwarden: export it there as JSON without encryption, which --from json reads"
    }
    let known: [(String, String)] = [
      (
        "\"encryptedPassword\"",
        "it is where Firefox keeps its passwords, encrypted: export them in Firefox, on the page about:logins, as CSV"
      ),
      ("***5642bee8-a5ff-11dc-8314-0800200c9a66***", onePassword),
      ("\"exporterRpId\"", "it is a file to move passkeys: 'whorl passkey import' reads the passkeys in it"),
      ("\"slots\"", "it is JSON of Aegis: --from aegis reads it"),
      ("\"AUTHENTIFIANT\"", "it is JSON of Dashlane: export it there as CSV"),
      ("\"shared_folders\"", "it is JSON of Keeper: export it there as CSV"),
      ("\"template_type\"", "it is JSON of Enpass: export it there as CSV"),
    ]
    return known.first { text.contains($0.0) }?.1
  }

  /// Whether a member has this value, with or without blanks around the colon.
  private static func has(_ text: UnsafeRawBufferPointer, _ member: String, _ value: String) -> Bool {
    guard let place = text.place(of: "\"\(member)\"") else { return false }
    let rest = text[(place + member.utf8.count + 2)...].drop { " \t\r\n:".utf8.contains($0) }
    return rest.starts(with: value.utf8)
  }

  // MARK: XML and HTML

  private static func markup(_ text: UnsafeRawBufferPointer) -> String? {
    guard text.first == UInt8(ascii: "<") else { return nil }
    // Searched in place: the beginning of a short export has passwords in it.
    let beginning = UnsafeRawBufferPointer(rebasing: text.prefix(1_000))
    let known: [([String], String)] = [
      (["<pwlist"], "it is the XML of KeePass 1: export it there as CSV"),
      (["KEEPASSX_DATABASE"], "it is the XML of KeePassX: open its database in KeePassXC, and export it there"),
      (["<passwordsafe"], "it is the XML of Password Safe: export it there as plain text"),
      (["<plist"], apple),
      (["<!DOCTYPE NETSCAPE", "<!DOCTYPE html", "<!DOCTYPE HTML", "<!doctype html", "<html", "<HTML"], page),
    ]
    return known.first { $0.0.contains { beginning.contains($0) } }?.1
  }
}
