import Presence
import SecretModel
package import VaultStore

extension StoreTransaction {
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
