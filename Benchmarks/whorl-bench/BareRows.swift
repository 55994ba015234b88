import CSQLite
import Foundation

/// Makes with SQLite alone the writes that adding and deleting an item makes: rows of the same sizes, at the same
/// places of the same indexes, with random bytes instead of sealed ones.
final class BareRows {
  private let database: Connection
  private let insertItem, insertTag, authority, lastRow, deleteTag, deleteItem, begin, commit: Connection.Statement
  private let tags = 4
  private var seed: UInt64 = .random(in: 0...(.max))
  private var item: (row: Int64, tags: [[UInt8]])?

  /// Opens a copy of the store's database for writing.
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
    let tags = (0..<tags).map { _ in bytes(16) }
    let values = [16, 32, 141, 70, 41].map { Connection.Value.blob(bytes($0)) }
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
    try authority.run([.blob(bytes(374))])
    try commit.run([])
  }

  /// Random bytes, distributed like sealed ones. They are cheap to make, so they do not distort the measurement.
  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: seed >> 33)
    }
  }
}
