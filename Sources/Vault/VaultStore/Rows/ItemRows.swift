package import GRDB
import Keys

// Finds the rows of items by names and ids, and ends items when a factor of their access control is gone.
extension StoreSnapshot {
  /// The item with the primary attributes of this record, or nil. Throws `itemDamaged` where the row was changed since
  /// it was written.
  ///
  /// - Parameter index: ``Store/nameIndex(_:)`` of the record, where that is known.
  package func item(like record: ItemRecord, _ index: [UInt8]? = nil) throws -> ItemRow? {
    try found(like: record, index)?.row
  }

  /// The same, with the record from the row's sealed attributes.
  package func found(
    like record: ItemRecord, _ index: [UInt8]? = nil
  ) throws -> (row: ItemRow, record: ItemRecord)? {
    let row = try ItemRow.fetchOne(
      db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?"),
      arguments: [store.owner, (index ?? store.nameIndex(record)).data])
    guard let row else { return nil }
    guard let known = store.record(of: row), known.primary == record.primary else {
      throw VaultError.itemDamaged(record.name)
    }
    return (row, known)
  }

  /// The item of this id, or nil.
  package func item(_ id: [UInt8]) throws -> ItemRow? {
    try ItemRow.fetchOne(
      db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE id = ? AND owner = ?"),
      arguments: [id.data, store.owner])
  }

  /// The items that ``kill(_:where:_:by:)`` would end. Changes nothing.
  package func doomed(where condition: String, _ arguments: StatementArguments, by gone: Requirement.Factor?)
    throws -> [ItemRow]
  {
    try losing(gone, where: condition, arguments).filter { $0.left == nil }.map(\.row)
  }

  /// The living items that lose a factor, each with its wrappings after the loss; nil if no wrapping remains.
  fileprivate func losing(
    _ gone: Requirement.Factor?, where condition: String, _ arguments: StatementArguments
  ) throws -> [(row: ItemRow, left: [Wrapping]?)] {
    try ItemRow.fetchAll(
      db, sql: "SELECT \(ItemRow.columns) FROM item WHERE dead = 0 AND owner = \(store.owner) AND (\(condition))",
      arguments: arguments
    ).compactMap { row in
      guard let gone, let access = row.accessControl, !Requirement(access).always(gone) else { return (row, nil) }
      // Leave damaged rows as they are.
      guard let ways = row.itemKey.flatMap({ Wrapping.decode($0, Requirement(access)) }) else { return nil }
      let left = ways.map { $0.keys.contains(gone) ? .closed($0.keys) : $0 }
      return (row, left.allSatisfy(\.isClosed) ? nil : left)
    }
  }
}

extension StoreTransaction {
  /// Ends items for good: overwrites their keys and secrets, and keeps the name to report the loss. An item that other
  /// factors can still open lives on without the lost one.
  package func kill(where condition: String, _ arguments: StatementArguments, by gone: Requirement.Factor?)
    throws -> [ItemName]
  {
    var lost: [ItemName] = []
    for (var row, left) in try losing(gone, where: condition, arguments) {
      if let left {
        try db.execute(
          sql: "UPDATE item SET item_key = ? WHERE row = ?", arguments: [Wrapping.encode(left).data, row.row])
        continue
      }
      if let record = store.record(of: row) {
        lost.append(record.name)
        row.dead = true
        try store.seal(record, into: &row)
      }
      try db.execute(
        sql: "UPDATE item SET dead = 1, attributes = ?, item_key = NULL, secret = NULL WHERE row = ?",
        arguments: [row.attributes.data, row.row])
    }
    return lost
  }
}

extension OpenedStore {
  /// The row's class and attributes; nil where any part of the row was changed since it was written.
  package func record(of row: ItemRow) -> ItemRecord? {
    guard let bytes = try? openRecord(row.attributes, key: keys.attributes, aad: row.attributesAAD(keys.databaseID)),
      let record = ItemRecord(bytes: bytes)
    else { return nil }
    // The index column is not part of the sealed data, so compare it: the row could otherwise be found under another
    // name.
    return row.nameIndex == nameIndex(record) ? record : nil
  }

  package func item(of row: ItemRow, _ record: ItemRecord) -> Item? {
    guard let access = row.accessControl, let accessibility = Accessibility(rawValue: row.accessibility) else {
      return nil
    }
    return Item(
      id: ItemID(bytes: row.id), state: row.dead ? .dead : .living, itemClass: record.itemClass,
      attributes: record.attributes, access: access, accessibility: accessibility, created: record.created,
      modified: record.modified)
  }

  package func seal(_ record: ItemRecord, into row: inout ItemRow) throws(VaultError) {
    row.attributes = try sealRecord(record.bytes, key: keys.attributes, aad: row.attributesAAD(keys.databaseID))
  }

  /// The names of the items, without those that cannot be read.
  package func names(of rows: [ItemRow]) -> [ItemName] { rows.compactMap { record(of: $0)?.name } }
}
