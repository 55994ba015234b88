import GRDB

/// The store as one transaction sees it: its rows, and the authority record that authenticates them. Valid only inside
/// the closure that it is passed to.
class Moment {
  let store: Store
  let db: Database
  fileprivate var record: Authority

  init(of store: Store, _ db: Database, _ authority: Authority) {
    self.store = store
    self.db = db
    record = authority
  }

  /// The authority record as it was when the transaction began.
  var authority: Authority { record }
}

/// A transaction that may write the store's rows and the authority record. It is committed as a whole or not at all.
final class Change: Moment {
  override var authority: Authority {
    get { record }
    set { record = newValue }
  }
}
