import GRDB

extension Store {
  /// Shows each living item that a search means, oldest first.
  func search(_ search: ItemSearch, _ db: Database, _ show: (ItemRow, ItemRecord, Item) throws -> Void) throws {
    var left = search.limit ?? .max
    guard left > 0 else { return }
    /// Says whether more are wanted.
    func look(_ row: ItemRow) throws -> Bool {
      if let record = record(of: row), search.matches(record), let item = item(of: row, record) {
        try show(row, record, item)
        left -= 1
      }
      return left > 0
    }
    if let ids = search.ids {
      var rows = try Set(ids).compactMap { try item($0.bytes, db) }.filter { !$0.dead }
      rows.sort { ($0.row ?? 0) < ($1.row ?? 0) }
      for row in rows { guard try look(row) else { return } }
      return
    }
    let rows =
      if let itemClass = search.itemClass {
        try ItemRow.fetchCursor(
          db.cachedStatement(
            sql: """
              SELECT \(ItemRow.columns(of: "item")) FROM item_index JOIN item ON item.row = item_index.row
              WHERE item_index.tag = ? AND item.owner = ? AND item.dead = 0 ORDER BY item_index.row
              """), arguments: [tag(for: search, in: itemClass).data, owner])
      } else {
        try ItemRow.fetchCursor(
          db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND dead = 0 ORDER BY row"),
          arguments: [owner])
      }
    while let row = try rows.next() { guard try look(row) else { return } }
  }
}

extension ItemSearch {
  func matches(_ record: ItemRecord) -> Bool {
    guard itemClass == nil || itemClass == record.itemClass else { return false }
    let synchronizes = record.attributes[.synchronizable].map { !$0.isEmpty } ?? false
    switch synchronizable {
    case .any: break
    case .yes: guard synchronizes else { return false }
    case .no: guard !synchronizes else { return false }
    }
    return attributes.allSatisfy { name, value in
      record.attributes[name].map { $0.matches(value, ignoringCase: ignoresCase) } ?? value.isEmpty
    }
  }
}
