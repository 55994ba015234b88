import GRDB

extension StoreDatabase {
  /// The database's id, to which every box is bound.
  package func identity() throws(VaultError) -> [UInt8] {
    do {
      guard let row = try queue.read({ db in try Row.fetchOne(db, sql: "SELECT database_id FROM store") }) else {
        throw VaultError.storeDamaged("it has no identity")
      }
      return row.bytes(0)
    } catch {
      throw VaultError(cause: error)
    }
  }

  /// A slot without verification: before the root key is known, there are no keys to verify with.
  package func rawSlot(_ name: Slot.Name) throws(VaultError) -> Slot? {
    do {
      return try queue.read { db in
        try Row.fetchOne(db, sql: "SELECT parameters, box FROM slot WHERE name = ?", arguments: [name.text])
          .map { Slot(name: name, parameters: $0.bytes(0), box: $0.bytes(1)) }
      }
    } catch {
      throw VaultError(cause: error)
    }
  }
}
