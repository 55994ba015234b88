import GRDB

extension Store {
  /// Shows each living item that a search means: in the order of its access groups, and in each the oldest first.
  func search(_ search: ItemSearch, _ db: Database, _ show: (ItemRow, ItemRecord, Item) throws -> Void) throws {
    typealias Found = (row: ItemRow, record: ItemRecord, item: Item)
    var left = search.limit ?? .max
    guard left > 0 else { return }
    var later: [Int: [Found]] = [:]
    try visit(search, db) { found in
      guard let place = search.place(ofGroupOf: found.record) else { return true }
      guard place == 0 else {
        if later[place, default: []].count < left { later[place, default: []].append(found) }
        return true
      }
      try show(found.row, found.record, found.item)
      left -= 1
      return left > 0
    }
    for (_, founds) in later.sorted(by: { $0.key < $1.key }) {
      for found in founds.prefix(left) { try show(found.row, found.record, found.item) }
      left -= min(left, founds.count)
    }
  }

  /// Visits what a search means in whatever group, oldest first, until the visitor has enough.
  private func visit(
    _ search: ItemSearch, _ db: Database,
    _ visitor: ((row: ItemRow, record: ItemRecord, item: Item)) throws -> Bool
  ) throws {
    func look(_ row: ItemRow) throws -> Bool {
      guard let record = record(of: row), search.matches(record), let item = item(of: row, record) else { return true }
      return try visitor((row, record, item))
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
  /// The place of an item's access group among those of the search; nil where it is none of them.
  func place(ofGroupOf record: ItemRecord) -> Int? {
    switch groups {
    case nil, .all: 0
    case .named(let names): names.firstIndex { record.attributes[.accessGroup] == .text($0) }
    }
  }

  /// Whether the search names a class, items or an attribute. One that names nothing deletes nothing.
  var namesSomething: Bool {
    itemClass != nil || ids != nil || attributes.contains { $0.key != .accessGroup && !$0.value.isEmpty }
  }

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
