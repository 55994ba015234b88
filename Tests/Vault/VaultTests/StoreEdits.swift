import GRDB
import VaultDriver

extension ScratchStore {
  /// Changes the database, like an attacker who can write its file.
  func edit(_ sql: String, _ arguments: StatementArguments = []) async throws {
    let editor = try DatabaseQueue(path: path + "/vault.db")
    try await editor.write { db in try db.execute(sql: sql, arguments: arguments) }
    try editor.close()
  }
}
