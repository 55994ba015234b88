import Foundation
import Testing

@Suite("docs/formats.md")
struct FormatTests {
  /// The number that the sources give each constant.
  private static func number(of constant: Substring) throws -> Substring? {
    let vault = "Sources/Vault"
    return switch constant {
    case "StoreDatabase.format":
      try Repository.text("\(vault)/VaultStore/Files/StoreDatabase.swift")
        .firstMatch(of: /\n  package static let format = ([0-9]+)\n/)?.1
    case "StoreDatabase.version":
      try Repository.text("\(vault)/VaultStore/Files/StoreDatabase.swift")
        .firstMatch(of: /\n  static let version = ([0-9]+)\n/)?.1
    case "BackupFile.version":
      try Repository.text("\(vault)/Vault/Backup/BackupFile.swift")
        .firstMatch(of: /\n  static let version: UInt64 = ([0-9]+)\n/)?.1
    case "ItemFileFormat.Beginning.version":
      try Repository.text("Sources/Client/Moving/Files/ItemFileFormat.swift")
        .firstMatch(of: /struct Beginning: [^{]*\{[^}]*\n    var version = ([0-9]+)\n/)?.1
    case "SyncFile.formatLine":
      try Repository.text("\(vault)/SecretModel/SyncModel.swift")
        .firstMatch(of: /static let formatLine = "whorl-sync ([0-9]+)"\n/)?.1
    default: nil
    }
  }

  private struct Row {
    var what: String
    var number: Substring
    var constant: Substring
  }

  /// The table of the formats that have a number.
  private static func rows() throws -> [Row] {
    try Repository.text("docs/formats.md")
      .matches(of: /(?m)^\| ([^|]+) \| ([0-9]+) \| [^|]+ \| `([A-Za-z.]+)` \|$/)
      .map { Row(what: String($0.1), number: $0.2, constant: $0.3) }
  }

  @Test("the page about formats has the numbers of store, backup, export and sync that the sources have")
  func numbers() throws {
    let rows = try Self.rows()
    for row in rows {
      #expect(try Self.number(of: row.constant) == row.number, "\(row.what): \(row.constant)")
    }
    #expect(
      Set(rows.map(\.constant)) == [
        "StoreDatabase.format", "StoreDatabase.version", "BackupFile.version", "ItemFileFormat.Beginning.version",
        "SyncFile.formatLine",
      ])
  }

  @Test("the last row of the versions has the newest formats")
  func newest() throws {
    let page = try Repository.text("docs/formats.md")
    let last = try #require(
      page.firstMatch(of: /(?m)^\| [^|]*0\.1\.0 \| tables ([0-9 and]+) \| ([0-9]+) \| ([0-9]+) \| ([0-9]+) \|$/))
    #expect(try Self.number(of: "StoreDatabase.version") == last.1.split(separator: " ").last)
    #expect(try Self.number(of: "BackupFile.version") == last.2)
    #expect(try Self.number(of: "ItemFileFormat.Beginning.version") == last.3)
    #expect(try Self.number(of: "SyncFile.formatLine") == last.4)
    // The documents of the formats, too.
    #expect(
      try Repository.text("docs/export-format.md").contains(#"{"format":"whorl-items","version":\#(last.3)}"#))
    #expect(try Repository.text("docs/sync-format.md").contains("| `format` | `whorl-sync \(last.4)` and a newline |"))
  }

  @Test("what an older program says of newer formats, in the page about them, are the sentences of the sources")
  func sentences() throws {
    let page = try Repository.text("docs/formats.md")
    let version = try #require(try Self.number(of: "StoreDatabase.version"))
    let next = (Int(version) ?? 0) + 1
    let errors = try Repository.text("Sources/Vault/SecretModel/VaultError.swift")
    #expect(errors.contains("\"the store is of a newer format ({version})\"") && errors.contains("\"update whorl\""))
    #expect(page.contains("| store | the store is of a newer format (\(next)); update whorl |"))
    for (file, sentence) in [
      ("Sources/Client/Settings/Failure.swift", "was written by a newer version of Whorl"),
      ("Sources/Client/Settings/Failure.swift", "install that version here, too"),
      ("Sources/Vault/SecretModel/AuditEntry.swift", "it does not hold items of whorl, or those of a later version"),
      ("Sources/Vault/VaultHost/ServiceSettings.swift", "nothing is called '"),
    ] {
      #expect(try Repository.text(file).contains(sentence), "\(file)")
      #expect(page.contains(sentence), "\(sentence)")
    }
  }
}
