package import GRDB

/// The store as one transaction sees it: its rows, and the authority record that authenticates them. Valid only inside
/// the closure that it is passed to.
package class StoreSnapshot {
  package let store: OpenedStore
  package let db: Database
  fileprivate var record: Authority

  init(of store: OpenedStore, _ db: Database, _ authority: Authority) {
    self.store = store
    self.db = db
    record = authority
  }

  /// The authority record as it was when the transaction began.
  package var authority: Authority { record }
}

/// A transaction that may write the store's rows and the authority record. It is committed as a whole or not at all.
package final class StoreTransaction: StoreSnapshot {
  /// Whether records of the circle were changed.
  package var changesRecords = false

  package override var authority: Authority {
    get { record }
    set { record = newValue }
  }
}
