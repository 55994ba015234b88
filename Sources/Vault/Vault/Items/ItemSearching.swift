import GRDB
import Glibc

/// A row that a search means. The record is nil where the row is damaged.
struct FoundItem {
  var row: ItemRow
  var record: ItemRecord?
  var item: Item
}

extension Store {
  /// Shows each item that a search means: in the order of its access groups, and in each the oldest first.
  func search(_ search: ItemSearch, _ db: Database, _ show: (FoundItem) throws -> Void) throws {
    var left = search.limit ?? .max
    guard left > 0 else { return }
    var later: [Int: [FoundItem]] = [:]
    try visit(search, db) { found in
      guard let place = search.place(ofGroupOf: found.item) else { return true }
      guard place == 0 else {
        if later[place, default: []].count < left { later[place, default: []].append(found) }
        return true
      }
      try show(found)
      left -= 1
      return left > 0
    }
    for (_, founds) in later.sorted(by: { $0.key < $1.key }) {
      for found in founds.prefix(left) { try show(found) }
      left -= min(left, founds.count)
    }
  }

  /// Visits what a search means in whatever group, oldest first, until the visitor has enough.
  private func visit(_ search: ItemSearch, _ db: Database, _ visitor: (FoundItem) throws -> Bool) throws {
    /// `named`: the row itself is what the search names, whether it can be read or not.
    func look(_ row: ItemRow, named: Bool) throws -> Bool {
      guard let record = record(of: row), let item = item(of: row, record) else {
        guard named, search.states.contains(.damaged) else { return true }
        return try visitor(FoundItem(row: row, record: nil, item: damagedItem(row)))
      }
      guard search.states.contains(item.state), search.matches(record) else { return true }
      return try visitor(FoundItem(row: row, record: record, item: item))
    }
    if let ids = search.ids {
      var rows = try Set(ids).compactMap { try item($0.bytes, db) }
      rows.sort { ($0.row ?? 0) < ($1.row ?? 0) }
      for row in rows { guard try look(row, named: true) else { return } }
      return
    }
    if let indexes = nameIndexes(of: search) {
      for index in indexes {
        let row = try ItemRow.fetchOne(
          db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?"),
          arguments: [owner, index.data])
        if let row { guard try look(row, named: true) else { return } }
      }
      return
    }
    // What is dead by its row alone needs no opening, where only the living are meant.
    let living = search.states == [.living] ? " AND dead = 0" : ""
    let rows =
      if let itemClass = search.itemClass {
        try ItemRow.fetchCursor(
          db.cachedStatement(
            sql: """
              SELECT \(ItemRow.columns(of: "item")) FROM item_index JOIN item ON item.row = item_index.row
              WHERE item_index.tag = ? AND item.owner = ?\(living) ORDER BY item_index.row
              """), arguments: [tag(for: search, in: itemClass).data, owner])
      } else {
        try ItemRow.fetchCursor(
          db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ?\(living) ORDER BY row"),
          arguments: [owner])
      }
    while let row = try rows.next() { guard try look(row, named: search.meansEverything) else { return } }
  }

  /// The indexes of the items, one in each access group, that a search names with all primary attributes of its class;
  /// nil for any other search.
  private func nameIndexes(of search: ItemSearch) -> [[UInt8]]? {
    guard let itemClass = search.itemClass, !search.ignoresCase else { return nil }
    var attributes = search.attributes
    switch search.synchronizable {
    case .no: attributes[.synchronizable] = .number(0)
    case .yes: attributes[.synchronizable] = .number(1)
    case .any: return nil
    }
    var groups = attributes[.accessGroup].map { [$0] } ?? []
    if groups.isEmpty, case .named(let names)? = search.groups { groups = names.map { .text($0) } }
    guard !groups.isEmpty else { return nil }
    attributes[.accessGroup] = groups[0]
    guard itemClass.primaryAttributes.allSatisfy({ attributes[$0] != nil }) else { return nil }
    return groups.map { group in
      attributes[.accessGroup] = group
      return nameIndex(ItemRecord(itemClass: itemClass, attributes: attributes, created: 0, modified: 0))
    }
  }

  private func damagedItem(_ row: ItemRow) -> Item {
    Item(
      id: ItemID(bytes: row.id), state: .damaged, itemClass: nil, attributes: [:], access: .none,
      accessibility: .whenUnlocked, created: 0, modified: 0)
  }
}

extension ItemSearch {
  /// The place of an item's access group among those of the search; nil where it is none of them.
  func place(ofGroupOf item: Item) -> Int? {
    guard case .named(let names)? = groups, item.state != .damaged else { return 0 }
    return names.firstIndex { item.attributes[.accessGroup] == .text($0) }
  }

  /// Whether the search names a class, items or an attribute. One that names nothing deletes nothing.
  var namesSomething: Bool {
    itemClass != nil || ids != nil || attributes.contains { $0.key != .accessGroup && !$0.value.isEmpty }
  }

  /// Whether there is no condition that an item's attributes have to meet.
  fileprivate var meansEverything: Bool {
    guard itemClass == nil, attributes.isEmpty, pattern == nil, synchronizable == .any else { return false }
    return groups == nil || groups == .all
  }

  func matches(_ record: ItemRecord) -> Bool {
    guard itemClass == nil || itemClass == record.itemClass else { return false }
    guard Self.isSame(record.created, created), Self.isSame(record.modified, modified) else { return false }
    let synchronizes = record.attributes[.synchronizable].map { !$0.isEmpty } ?? false
    switch synchronizable {
    case .any: break
    case .yes: guard synchronizes else { return false }
    case .no: guard !synchronizes else { return false }
    }
    let attributesMatch = attributes.allSatisfy { name, value in
      record.attributes[name].map { $0.matches(value, ignoringCase: ignoresCase) } ?? value.isEmpty
    }
    return attributesMatch && (pattern.map { Self.matches(record.name.description, $0) } ?? true)
  }

  private static func isSame(_ seconds: Double, _ wanted: Double?) -> Bool {
    wanted.map { abs($0 - seconds) < 1e-3 } ?? true
  }

  private static func matches(_ name: String, _ pattern: String) -> Bool {
    // Only `*` and `?` are special: brackets and backslashes occur in names.
    let glob = pattern.map { $0 == "[" ? "[[]" : String($0) }.joined()
    return fnmatch(glob, name, FNM_NOESCAPE) == 0
  }
}
