import CSQLite

/// A plain SQLite connection, closed with this object.
final class Connection {
  private var handle: OpaquePointer?

  init(_ path: String) throws {
    // The handle must be closed even if opening fails.
    guard sqlite3_open(path, &handle) == SQLITE_OK else { throw BenchFailure("cannot open \(path)") }
  }

  deinit { sqlite3_close_v2(handle) }

  func execute(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw BenchFailure("SQLite: \(text)") }
  }

  func prepare(_ text: String) throws -> Statement {
    var statement: OpaquePointer?
    // This object finalises the statement.
    guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw BenchFailure("SQLite: \(text)")
    }
    return Statement(statement)
  }

  enum Value {
    case blob([UInt8])
    case integer(Int64)
  }

  /// A prepared statement, finalised with this object. `sqlite3_close_v2` waits for that.
  final class Statement {
    private let handle: OpaquePointer

    fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { sqlite3_finalize(handle) }

    /// Executes the statement up to its first row. Returns the first column if it is a number.
    @discardableResult
    func run(_ values: [Value] = []) throws -> Int64 {
      for (place, value) in values.enumerated() {
        switch value {
        // SQLite copies the bytes because of the destructor -1 (SQLITE_TRANSIENT). With a null destructor it would not.
        case .blob(let bytes):
          sqlite3_bind_blob(
            handle, Int32(place + 1), bytes, Int32(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        case .integer(let number): sqlite3_bind_int64(handle, Int32(place + 1), number)
        }
      }
      let status = sqlite3_step(handle)
      let first = status == SQLITE_ROW ? sqlite3_column_int64(handle, 0) : 0
      sqlite3_reset(handle)
      guard status == SQLITE_ROW || status == SQLITE_DONE else { throw BenchFailure("SQLite: status \(status)") }
      return first
    }
  }
}
