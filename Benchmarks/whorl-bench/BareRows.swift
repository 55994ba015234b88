import CSQLite
import Foundation

/// What adding and deleting an item writes, written by SQLite alone: the rows of a store, of the same sizes and in the
/// same places of its indexes, with nothing sealed in them.
final class BareRows {
  private let database: Connection
  private let insertItem, insertTag, authority, lastRow, deleteTag, deleteItem, begin, commit: Connection.Statement
  private let tags = 4
  private var item: (row: Int64, tags: [[UInt8]])?

  /// Writes into a copy of the store's database.
  init(copying store: String, to path: String) throws {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    try Connection("\(store)/vault.db").execute("VACUUM INTO '\(path)'")
    database = try Connection(path)
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    insertItem = try database.prepare(
      """
      INSERT INTO item
        (id, owner, name_index, revision, access, accessibility, dead, attributes, item_key, secret)
      VALUES (?, 0, ?, 1, 0, 'when-unlocked', 0, ?, ?, ?)
      """)
    lastRow = try database.prepare("SELECT last_insert_rowid()")
    insertTag = try database.prepare("INSERT INTO item_index (tag, row) VALUES (?, ?)")
    deleteTag = try database.prepare("DELETE FROM item_index WHERE tag = ? AND row = ?")
    deleteItem = try database.prepare("DELETE FROM item WHERE row = ?")
    authority = try database.prepare("UPDATE store SET authority = ?")
  }

  func add() throws {
    let tags = (0..<tags).map { _ in Self.bytes(16) }
    let values = [16, 32, 141, 70, 41].map { Connection.Value.blob(Self.bytes($0)) }
    try transaction {
      try insertItem.run(values)
      let row = try lastRow.run([])
      for tag in tags { try insertTag.run([.blob(tag), .integer(row)]) }
      item = (row, tags)
    }
  }

  func delete() throws {
    guard let item else { throw BenchFailure("nothing was added") }
    try transaction {
      for tag in item.tags { try deleteTag.run([.blob(tag), .integer(item.row)]) }
      try deleteItem.run([.integer(item.row)])
    }
  }

  private func transaction(_ body: () throws -> Void) throws {
    try begin.run([])
    try body()
    try authority.run([.blob(Self.bytes(374))])
    try commit.run([])
  }

  private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }
}
