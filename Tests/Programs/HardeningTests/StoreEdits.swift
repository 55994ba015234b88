import GRDB
import VaultDriver

/// Changes a store's database, like an attacker who can write its file.
func edit(_ directory: String, _ sql: String) async throws {
  let editor = try DatabaseQueue(path: directory + "/vault.db")
  // Not in a transaction, where no other database can be attached.
  try await editor.writeWithoutTransaction { db in try db.execute(sql: sql) }
  try editor.close()
}

extension ScratchStore {
  func edit(_ sql: String) async throws { try await HardeningTests.edit(path, sql) }
}
