import GRDB
import Presence
import SecretModel
package import VaultStore

extension StoreTransaction {
  /// Builds the index of items anew from their records. That of a backup is not trusted: a search would not find an item
  /// that it leaves out.
  package func indexItemsAgain() throws {
    try db.execute(sql: "DELETE FROM item_index")
    let rows = try ItemRow.fetchCursor(db, sql: "SELECT \(ItemRow.columns) FROM item")
    while let row = try rows.next() {
      if let number = row.row, let record = store.record(of: row) { try addToIndex(number, record) }
    }
  }

  /// Removes the entries of the login that run a command, set a variable or write a file, and returns their names. The
  /// items whose secrets they deliver stay.
  package func removeLoginDeliveries() throws -> [ItemName] {
    var (names, ids) = ([ItemName](), [ItemID]())
    try ItemSearcher(self).each(ItemSearch(loginItemsOf: nil)) { found in
      guard LoginItem(found.item)?.kind.deliversAnotherItem == true else { return true }
      names.append(found.record?.name ?? ItemName(unchecked: "", account: ""))
      ids.append(ItemID(bytes: found.row.id))
      return true
    }
    if !ids.isEmpty { _ = try ItemWriter(self, journal: nil).delete(.ids(ids)) }
    return names
  }
}
