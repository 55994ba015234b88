import GRDB
import Keys

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
