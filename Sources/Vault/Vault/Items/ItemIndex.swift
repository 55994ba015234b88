import GRDB
import Keys

// An index for equality searches, so that sealed attributes need not be opened one by one: HMACs of single attributes
// and of combinations, with the rows that have them. It is not trusted: each row that it finds is opened and compared.
extension Change {
  func addToIndex(_ row: Int64, _ record: ItemRecord) throws {
    let statement = try db.cachedStatement(sql: "INSERT OR IGNORE INTO item_index (tag, row) VALUES (?, ?)")
    for tag in store.tags(of: record) { try statement.execute(arguments: [tag.data, row]) }
  }

  /// Removes an item's tags; all tags of the row if its attributes cannot be read.
  func removeFromIndex(_ row: Int64, _ record: ItemRecord?) throws {
    guard let record else {
      return try db.execute(sql: "DELETE FROM item_index WHERE row = ?", arguments: [row])
    }
    let statement = try db.cachedStatement(sql: "DELETE FROM item_index WHERE tag = ? AND row = ?")
    for tag in store.tags(of: record) { try statement.execute(arguments: [tag.data, row]) }
  }
}

extension Store {
  /// HMAC of the primary attributes, which only one living item has.
  func nameIndex(_ record: ItemRecord) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "name")
    part.append(tag: 2, record.primary)
    return MAC.hmacSHA256(key: keys.index, part.bytes)
  }

  /// The tags of an item.
  func tags(of record: ItemRecord) -> [[UInt8]] {
    var tags = [tag(record.itemClass, [:])]
    for names in record.itemClass.searchedAttributes {
      if let values = values(names, of: record.attributes) { tags.append(tag(record.itemClass, values)) }
    }
    return tags
  }

  /// The narrowest tag that all items of a search have.
  func tag(for search: ItemSearch, in itemClass: ItemClass) -> [UInt8] {
    for names in itemClass.searchedAttributes {
      guard let values = values(names, of: search.attributes) else { continue }
      let texts = values.values.contains { if case .text = $0 { true } else { false } }
      if !(search.ignoresCase && texts) { return tag(itemClass, values) }
    }
    return tag(itemClass, [:])
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
