import CSQLite
package import GRDB
import Glibc
import Synchronization

/// The SQLite database of a store: opens it, makes its schema, and refuses any other schema.
package struct StoreDatabase {
  /// The version of the sealed rows, to which each of them is bound.
  package static let format = 3
  /// The version of the tables. Version 4 added those of the circle.
  static let version = 4

  private let database: OpenDatabase
  /// The largest size of the database in bytes; nil: no limit.
  package let quota: Int?

  /// Opens the database. Refuses another format, and a schema with additional parts.
  package init(at path: String, creating: Bool = false, quota: Int? = nil) throws(VaultError) {
    self.quota = quota
    if creating {
      // SQLite creates the database with the umask's mode, and the log with the database's mode. Create a private file
      // first.
      let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .onFile("cannot make \(path)") }
      Glibc.close(descriptor)
    }
    let isReadOnly = !creating && StoreDirectory.isReadOnly(path)
    do {
      var configuration = Configuration()
      configuration.readonly = isReadOnly
      configuration.busyMode = .timeout(10)
      configuration.label = "whorl"
      configuration.prepareDatabase { db in
        // Set before anything else is read, so that planted views or triggers cannot run functions, and SQL cannot
        // write the schema or the file's structures.
        guard whorl_sqlite3_set_defensive(db.sqliteConnection) == SQLITE_OK else { throw DatabaseError() }
        // Not through GRDB's journal mode, which sets `synchronous` to NORMAL, so that a power cut could undo counted
        // failures, and writes into the database at each opening.
        guard !isReadOnly else { return try db.execute(sql: "PRAGMA trusted_schema = OFF") }
        try db.execute(
          sql: """
            PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL
            """)
        if let quota {
          let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 4_096
          try db.execute(sql: "PRAGMA max_page_count = \(quota / pageSize)")
        }
      }
      let place = try isReadOnly ? Self.readOnlyPlace(of: path) : path
      database = try OpenDatabase(at: place, configuration)
      if creating {
        try Self.migrator.migrate(queue)
      } else {
        let isEarlier = try queue.read { db in try Self.isEarlier(db) }
        if isEarlier, !isReadOnly { try Self.migrator.migrate(queue) }
        try queue.read { db in try Self.checkSchema(db) }
      }
    } catch {
      throw Self.error(error, at: path, quota: quota)
    }
  }

  package var queue: DatabaseQueue { database.queue }

  /// The URI under which SQLite reads a database without making the files of a write-ahead log beside it. It would
  /// ignore an existing log. So a store whose log holds changes is refused.
  private static func readOnlyPlace(of path: String) throws(VaultError) -> String {
    var log = stat()
    guard stat(path + "-wal", &log) != 0 || log.st_size == 0 else {
      throw .inputOutput(
        "the store is on a read-only file system, with changes that no program has finished: use it once where it can be "
          + "written to")
    }
    var place = "file:"
    for byte in path.utf8 {
      let isPlain = byte.isASCIILetterOrDigit || "/-_.".utf8.contains(byte)
      place += isPlain ? String(UnicodeScalar(byte)) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }
    return place + "?immutable=1"
  }

  /// Versioned, so that a later format can migrate an earlier store.
  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("3") { db in
      for statement in schema { try db.execute(sql: statement) }
      try db.execute(sql: "PRAGMA user_version = 3")
    }
    migrator.registerMigration("4") { db in
      for statement in circleSchema { try db.execute(sql: statement) }
      try db.execute(sql: "PRAGMA user_version = 4")
    }
    return migrator
  }

  /// The exact schema of a store. Anything else in a database was planted.
  private static let schema = [
    "CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), database_id BLOB NOT NULL, authority BLOB NOT NULL)",
    "CREATE TABLE slot (name TEXT PRIMARY KEY NOT NULL, parameters BLOB NOT NULL, box BLOB NOT NULL)",
    "CREATE TABLE enrolment_set (reader BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL, set_key BLOB NOT NULL)",
    "CREATE TABLE enrolment (id BLOB PRIMARY KEY NOT NULL, reader BLOB NOT NULL, template BLOB NOT NULL, "
      + "last_match INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE item (row INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, owner INTEGER NOT NULL, "
      + "name_index BLOB NOT NULL, revision INTEGER NOT NULL, access INTEGER NOT NULL, "
      + "accessibility TEXT NOT NULL, generation BLOB, dead INTEGER NOT NULL, attributes BLOB NOT NULL, "
      + "derivation BLOB, item_key BLOB, secret BLOB)",
    "CREATE UNIQUE INDEX item_by_name ON item (owner, name_index)",
    "CREATE TABLE item_index (tag BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (tag, row)) WITHOUT ROWID",
    "CREATE INDEX item_by_generation ON item (generation) WHERE generation IS NOT NULL",
  ]

  private static let circleSchema = [
    "CREATE TABLE sync_record (name BLOB PRIMARY KEY NOT NULL, item BLOB, digest BLOB NOT NULL, published BLOB, "
      + "epoch INTEGER NOT NULL, head BLOB NOT NULL, file BLOB NOT NULL)",
    "CREATE INDEX sync_record_by_item ON sync_record (item) WHERE item IS NOT NULL",
    "CREATE INDEX sync_record_by_epoch ON sync_record (epoch)",
    "CREATE INDEX sync_record_to_publish ON sync_record (name) WHERE published IS NOT digest",
    "CREATE TABLE sync_progress (id INTEGER PRIMARY KEY CHECK (id = 1), progress BLOB NOT NULL)",
  ]

  private static let expected: Set<String> = Set(
    schema + circleSchema + [
      "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)", "CREATE TABLE sqlite_sequence(name,seq)",
    ])

  /// Whether it is a store of an earlier version that can become one of this version. Its schema is checked first.
  private static func isEarlier(_ db: Database) throws -> Bool {
    guard try Int.fetchOne(db, sql: "PRAGMA user_version") == format else { return false }
    try check(db, is: expected.subtracting(circleSchema))
    return true
  }

  private static func checkSchema(_ db: Database) throws {
    let found = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    guard found <= version else { throw VaultError.newerFormat(found) }
    guard found > 0 else { throw VaultError.storeDamaged("it is not a Whorl store") }
    guard found == version else { throw VaultError.olderFormat(found) }
    try check(db, is: expected)
  }

  private static func check(_ db: Database, is expected: Set<String>) throws {
    let found = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    if let planted = found.first(where: { !expected.contains($0) }) {
      throw VaultError.storeDamaged("it holds something Whorl did not put there: \(planted.prefix(60))")
    }
    guard found.count == expected.count else { throw VaultError.storeDamaged("parts of it are missing") }
  }

  /// The problems that SQLite's integrity check finds.
  package func integrityProblems() throws(VaultError) -> [String] {
    do {
      return try queue.read { db in
        try String.fetchAll(db, sql: "PRAGMA quick_check").filter { $0 != "ok" }
          // SQLite puts a heading above its findings.
          .map { $0.split(separator: "\n").joined(separator: " ") }
      }
    } catch {
      throw VaultError(cause: error)
    }
  }
}

extension UInt8 {
  fileprivate var isASCIILetterOrDigit: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5A).contains(self & ~0x20)
  }
}

extension Database {
  /// Runs the body in a transaction, and rolls it back if the body throws. Unlike `inTransaction(_:_:)`, it does not parse
  /// the statements that begin and end it each time, which is a tenth of a read.
  func inPreparedTransaction<T>(_ kind: TransactionKind, _ body: () throws -> T) throws -> T {
    try cachedStatement(sql: "BEGIN \(kind.rawValue) TRANSACTION").execute()
    do {
      let result = try body()
      try cachedStatement(sql: "COMMIT TRANSACTION").execute()
      return result
    } catch {
      // SQLite has rolled it back already after some errors.
      try? rollback()
      throw error
    }
  }
}

extension StoreDatabase {
  /// How many of the database's pages are kept in memory.
  package enum Cache: Int {
    /// SQLite's own 2 MiB.
    case few = 2_000
    /// 24 MiB, for a transaction that touches most pages of the indexes: they are written once.
    case many = 24_576
  }

  /// Errors are ignored: this concerns speed alone.
  package func cache(pages: Cache) {
    _ = try? queue.inDatabase { db in
      try db.execute(sql: "PRAGMA cache_size = -\(pages.rawValue)")
      if pages == .few { db.releaseMemory() }
    }
  }

  /// Empties the write-ahead log, which may still hold keys that a change has destroyed. A program that is reading may
  /// prevent this; the log is then removed when the last program closes the store.
  package func forgetOldPages() {
    _ = try? queue.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
  }

  /// The error for a failed change.
  package func error(_ error: any Error) -> VaultError { Self.error(error, at: queue.path, quota: quota) }

  /// The error for a failed call. SQLite has one code for a full disk and for a database at its quota. If there is no room for
  /// a file beside the database, it only says that something could not be written or opened.
  private static func error(_ error: any Error, at path: String, quota: Int?) -> VaultError {
    guard let code = (error as? DatabaseError)?.resultCode,
      [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN].contains(code)
    else { return VaultError(cause: error) }
    guard hasFreeDisk(at: path) else { return .diskFull("cannot write \(path)") }
    if code == .SQLITE_FULL, let quota { return .storeFull(limit: quota) }
    return VaultError(cause: error)
  }

  private static func hasFreeDisk(at path: String) -> Bool {
    var system = statvfs()
    return statvfs(path, &system) != 0 || system.f_bavail * UInt(system.f_frsize) > 1 << 20
  }

  /// Closes the database. If no other program has it open, this removes the log.
  package func close() { try? queue.close() }
}

/// A database that is closed when it is released. GRDB's object for it, about 2 KiB, stays in memory.
///
/// GRDB stores values on the dispatch queue of a database. When that queue is freed, libdispatch frees them on a global
/// queue, and from the first job of such a queue on it wakes the process every second, for as long as it runs
/// (docs/decisions/0149).
package final class OpenDatabase: Sendable {
  private static let closed = Mutex<[DatabaseQueue]>([])

  package let queue: DatabaseQueue

  package init(at path: String, _ configuration: Configuration = Configuration()) throws {
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  deinit {
    try? queue.close()
    Self.closed.withLock { $0.append(queue) }
  }
}

/// Sixteen random bytes from the kernel, for an id or a nonce, never for a key. libcrypto's generator is not used,
/// since it takes a millisecond to start.
package func randomID() -> [UInt8] {
  var generator = SystemRandomNumberGenerator()
  let halves = (generator.next(), generator.next())
  return withUnsafeBytes(of: halves) { Array($0) }
}
