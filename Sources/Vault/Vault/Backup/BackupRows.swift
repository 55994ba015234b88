import Foundation
import GRDB
import Presence
import VaultStore

/// The format of rows in a backup. Each row is the number of its table, and its columns, each as a kind and a value.
/// After the last row come a zero and the largest number that a row of `item` had.
enum BackupRows {
  private static let tables: [(name: String, columns: [String])] = [
    ("store", ["id", "database_id", "authority"]), ("slot", ["name", "parameters", "box"]),
    ("enrolment_set", ["reader", "record", "set_key"]), ("enrolment", ["id", "reader", "template", "last_match"]),
    ("item", ItemRow.names + ["secret"]), ("item_index", ["tag", "row"]),
  ]

  private enum Kind {
    static let null: UInt8 = 0
    static let integer: UInt8 = 1
    static let text: UInt8 = 2
    static let bytes: UInt8 = 3
  }

  /// The longest text or array of bytes in a store: a secret has at most 1 MiB, and everything else is much smaller.
  private static let longest = 2 << 20
  /// The longest row. A row is in memory several times while it is stored, so this bounds what a forged backup makes the
  /// service take.
  private static let longestRow = 4 << 20

  // MARK: Writing

  static func write(_ db: Database, _ append: ([UInt8]) throws -> Void) throws {
    for (number, table) in tables.enumerated() {
      let rows = try Row.fetchCursor(db, sql: "SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)")
      while let row = try rows.next() {
        var bytes = [UInt8(number + 1)]
        for value in row.databaseValues { try encode(value, into: &bytes) }
        try append(bytes)
      }
    }
    let last = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'item'") ?? 0
    try append([0] + encoded(last))
  }

  private static func encode(_ value: DatabaseValue, into bytes: inout [UInt8]) throws {
    func append(_ kind: UInt8, _ contents: some Collection<UInt8>) throws {
      guard contents.count <= longest else { throw VaultError.storeDamaged("it has a value that is too long") }
      bytes += [kind] + encoded(Int64(contents.count)) + contents
    }
    switch value.storage {
    case .null: bytes.append(Kind.null)
    case .int64(let number): bytes += [Kind.integer] + encoded(number)
    case .string(let text): try append(Kind.text, text.utf8)
    case .blob(let data): try append(Kind.bytes, data)
    case .double: throw VaultError.storeDamaged("it has a value of another kind")
    }
  }

  private static func encoded(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

  // MARK: Reading

  /// Stores the rows in a new, empty database.
  ///
  /// - Parameter take: the next so many bytes.
  /// - Throws: `fileUnreadable` where they are not rows of a store; errors of SQLite.
  static func read(into db: Database, _ take: (Int) throws -> [UInt8]) throws {
    let insertions = try tables.map { table in
      try db.makeStatement(
        sql: """
          INSERT INTO \(table.name) (\(table.columns.joined(separator: ", ")))
          VALUES (\(table.columns.map { _ in "?" }.joined(separator: ", ")))
          """)
    }
    while case let number = Int(try take(1)[0]), number > 0 {
      guard number <= tables.count else { throw VaultError.otherRows }
      var taken = 0
      let values = try tables[number - 1].columns.map { _ in
        try value { count in
          taken += count
          guard taken <= longestRow else { throw VaultError.otherRows }
          return try take(count)
        }
      }
      try insertions[number - 1].execute(arguments: StatementArguments(values))
    }
    let last = max(try decoded(take), try Int64.fetchOne(db, sql: "SELECT max(row) FROM item") ?? 0)
    // Restore the sequence, so that no number is reused for another item.
    try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'item'")
    try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('item', ?)", arguments: [last])
  }

  private static func value(_ take: (Int) throws -> [UInt8]) throws -> DatabaseValue {
    switch try take(1)[0] {
    case Kind.null: return .null
    case Kind.integer: return try decoded(take).databaseValue
    case Kind.text:
      guard let text = String(validating: try contents(take), as: UTF8.self) else { throw VaultError.otherRows }
      return text.databaseValue
    case Kind.bytes: return Data(try contents(take)).databaseValue
    default: throw VaultError.otherRows
    }
  }

  private static func contents(_ take: (Int) throws -> [UInt8]) throws -> [UInt8] {
    let count = try decoded(take)
    guard (0...Int64(longest)).contains(count) else { throw VaultError.otherRows }
    return try take(Int(count))
  }

  private static func decoded(_ take: (Int) throws -> [UInt8]) throws -> Int64 {
    Int64(bitPattern: try take(8).reduce(0) { $0 << 8 | UInt64($1) })
  }
}

extension VaultError {
  /// The contents of a backup are authentic, and not the rows of a store.
  static let otherRows = fileUnreadable("the backup does not have the rows of a store")
}
