import GRDB

/// One moment of a store, as a transaction sees it: its rows, and the authenticated record that vouches for them. Good
/// only inside the closure it is given to.
class Moment {
  let store: Store
  let db: Database
  fileprivate var record: Authority

  init(of store: Store, _ db: Database, _ authority: Authority) {
    self.store = store
    self.db = db
    record = authority
  }

  /// The record as it was when the transaction began.
  var authority: Authority { record }
}

/// One change of a store: a moment whose rows and record may be written. All of it is committed, or nothing.
final class Change: Moment {
  override var authority: Authority {
    get { record }
    set { record = newValue }
  }
}
