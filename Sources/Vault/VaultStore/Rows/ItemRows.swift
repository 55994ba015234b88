package import GRDB
import Keys
internal import Primitives

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
    if let known = openedRecords.record(of: row) { return known }
    guard let bytes = try? openRecord(row.attributes, key: keys.attributes, aad: row.attributesAAD(keys.databaseID)),
      let record = ItemRecord(bytes: bytes),
      // The index column is not part of the sealed data, so compare it: the row could otherwise be found under another
      // name.
      row.nameIndex == nameIndex(record)
    else { return nil }
    openedRecords.keep(record, of: row)
    return record
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

// An index for equality searches, so that sealed attributes need not be opened one by one: HMACs of single attributes
// and of combinations, with the rows that have them. It is not trusted: each row that it finds is opened and compared.
extension StoreTransaction {
  package func addToIndex(_ row: Int64, _ record: ItemRecord) throws {
    let tags = store.tags(of: record)
    // Insert several tags with one statement. Each number of tags is a statement of its own in the cache, so keep the
    // numbers small: an item may have thousands of tags.
    for start in stride(from: 0, to: tags.count, by: Self.tagsTogether) {
      let some = tags[start..<min(start + Self.tagsTogether, tags.count)]
      let values = some.map { _ in "(?, ?)" }.joined(separator: ", ")
      try db.cachedStatement(sql: "INSERT OR IGNORE INTO item_index (tag, row) VALUES \(values)").execute(
        arguments: StatementArguments(some.flatMap { [$0.data.databaseValue, row.databaseValue] }))
    }
  }

  private static let tagsTogether = 8

  /// Removes an item's tags; all tags of the row if its attributes cannot be read.
  package func removeFromIndex(_ row: Int64, _ record: ItemRecord?) throws {
    guard let record else {
      return try db.execute(sql: "DELETE FROM item_index WHERE row = ?", arguments: [row])
    }
    let statement = try db.cachedStatement(sql: "DELETE FROM item_index WHERE tag = ? AND row = ?")
    for tag in store.tags(of: record) { try statement.execute(arguments: [tag.data, row]) }
  }
}

extension StoreSnapshot {
  /// The number of rows with a tag.
  package func rows(with tag: [UInt8]) throws -> Int {
    try Int.fetchOne(
      db.cachedStatement(sql: "SELECT count(*) FROM item_index WHERE tag = ?"), arguments: [tag.data]) ?? 0
  }
}

extension OpenedStore {
  /// HMAC of the primary attributes, which are unique among living items.
  package func nameIndex(_ record: ItemRecord) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "name")
    part.append(tag: 2, record.primary)
    return MAC.hmacSHA256(key: keys.index, part.bytes)
  }

  /// The tags of an item: of its class, of attributes and combinations of its class, and of the attributes that a client
  /// looks items up by.
  func tags(of record: ItemRecord) -> [[UInt8]] {
    var tags = [tag(record.itemClass, [:])]
    for names in record.itemClass.searchedAttributes {
      if let values = values(names, of: record.attributes) { tags.append(tag(record.itemClass, values)) }
    }
    for (name, value) in lookups(in: record.attributes, of: record.itemClass) {
      tags.append(tag(record.itemClass, [name: value]))
    }
    return tags
  }

  /// Tags that every item found by the search has. The caller counts their rows to find the rarest tag.
  package func tags(for search: ItemSearch, in itemClass: ItemClass) -> [[UInt8]] {
    var tags: [[UInt8]] = []
    let lookups = search.ignoresCase ? [:] : lookups(in: search.attributes, of: itemClass)
    for (name, value) in lookups { tags.append(tag(itemClass, [name: value])) }
    // The first of these is the narrowest.
    for names in itemClass.searchedAttributes {
      guard let values = values(names, of: search.attributes) else { continue }
      let texts = values.values.contains { if case .text = $0 { true } else { false } }
      guard !(search.ignoresCase && texts) else { continue }
      tags.append(tag(itemClass, values))
      break
    }
    return tags.isEmpty ? [tag(itemClass, [:])] : tags
  }

  private func lookups(in attributes: [AttributeName: AttributeValue], of itemClass: ItemClass)
    -> [AttributeName: AttributeValue]
  {
    guard itemClass == .genericPassword else { return [:] }
    return attributes.filter { $0.key.lookup != nil && !$0.value.isEmpty }
  }

  private func values(_ names: [AttributeName], of attributes: [AttributeName: AttributeValue])
    -> [AttributeName: AttributeValue]?
  {
    // Absent and empty are the same, in an item and in a search.
    let found = attributes.filter { names.contains($0.key) && !$0.value.isEmpty }
    return found.count == names.count ? found : nil
  }

  private func tag(_ itemClass: ItemClass, _ values: [AttributeName: AttributeValue]) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "search")
    part.append(tag: 2, UInt64(owner))
    part.append(tag: 3, itemClass.rawValue)
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      part.append(tag: 4, name.rawValue)
      part.append(tag: 5, value.encoded)
    }
    return Array(MAC.hmacSHA256(key: keys.index, part.bytes).prefix(16))
  }
}
