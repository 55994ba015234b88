import GRDB
import Glibc

/// A row that a search means. The record is nil where the row is damaged.
struct FoundItem {
  var row: ItemRow
  var record: ItemRecord?
  var item: Item
  /// Where it is in the order of the search.
  var place: ItemPlace
}

extension Moment {
  /// Shows each item that a search means, in the order of its access groups, and in each the oldest first, until `show`
  /// has enough.
  ///
  /// - Parameter shown: for a search that passes over what would ask, or fails.
  func search(_ search: ItemSearch, _ shown: Shown = Shown(), _ show: (FoundItem) throws -> Bool) throws {
    var left = search.limit ?? .max
    guard left > 0 else { return }
    let after = try search.after.map { try store.place(of: $0, in: search) }
    let first = after?.group ?? 0
    func offer(_ found: FoundItem) throws -> Bool {
      guard try mayBeShown(found, search.interaction, shown) else { return true }
      left -= 1
      return try show(found) && left > 0
    }
    var later: [Int: [FoundItem]] = [:]
    try visit(search, after: after) { found in
      if let after, found.place <= after { return true }
      let group = found.place.group
      guard group != first else { return try offer(found) }
      // What is passed over does not count for the limit.
      if search.interaction != .allow || later[group, default: []].count < left {
        later[group, default: []].append(found)
      }
      return true
    }
    guard left > 0 else { return }
    for (_, founds) in later.sorted(by: { $0.key < $1.key }) {
      for found in founds { guard try offer(found) else { return } }
    }
  }

  /// Whether an item is shown, rather than passed over because its secret would ask.
  ///
  /// - Throws: `interactionNotAllowed` where it would ask and the search is to fail then.
  private func mayBeShown(_ found: FoundItem, _ interaction: ItemSearch.Interaction, _ shown: Shown) throws -> Bool {
    guard interaction != .allow, found.item.state == .living,
      !Requirement(found.item.access).isOpen || found.item.access.applicationPassword
    else { return true }
    if try shown.satisfies(wanted(found.row, named: nil)) { return true }
    guard interaction == .skip else { throw VaultError.interactionNotAllowed }
    return false
  }

  /// Visits what a search means in whatever group, oldest first, until the visitor has enough.
  private func visit(_ search: ItemSearch, after: ItemPlace?, _ visitor: (FoundItem) throws -> Bool) throws {
    /// `named`: the row itself is what the search names, whether it can be read or not.
    func look(_ row: ItemRow, named: Bool) throws -> Bool {
      guard let record = store.record(of: row), let item = store.item(of: row, record) else {
        guard named, search.states.contains(.damaged), search.created == nil, search.modified == nil else {
          return true
        }
        let place = ItemPlace(group: 0, row: row.row ?? 0)
        return try visitor(FoundItem(row: row, record: nil, item: store.damagedItem(row), place: place))
      }
      guard search.states.contains(item.state), search.matches(record), let group = search.group(of: item) else {
        return true
      }
      let place = ItemPlace(group: group, row: row.row ?? 0)
      return try visitor(FoundItem(row: row, record: record, item: item, place: place))
    }
    if let ids = search.ids {
      var rows = try Set(ids).compactMap { try item($0.bytes) }
      rows.sort { ($0.row ?? 0) < ($1.row ?? 0) }
      for row in rows { guard try look(row, named: true) else { return } }
      return
    }
    if let indexes = store.nameIndexes(of: search) {
      for index in indexes {
        let row = try ItemRow.fetchOne(
          db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?"),
          arguments: [store.owner, index.data])
        if let row { guard try look(row, named: true) else { return } }
      }
      return
    }
    // What is dead by its row alone needs no opening, where only the living are meant.
    let living = search.states == [.living] ? " AND dead = 0" : ""
    // In the last of the groups nothing before the place is looked at.
    let row = after.flatMap { $0.group == search.lastGroup ? $0.row : nil } ?? 0
    let rows =
      if let itemClass = search.itemClass {
        try ItemRow.fetchCursor(
          db.cachedStatement(
            sql: """
              SELECT \(ItemRow.columns(of: "item")) FROM item_index JOIN item ON item.row = item_index.row
              WHERE item_index.tag = ? AND item_index.row > ? AND item.owner = ?\(living) ORDER BY item_index.row
              """), arguments: [store.tag(for: search, in: itemClass).data, row, store.owner])
      } else {
        try ItemRow.fetchCursor(
          db.cachedStatement(
            sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND row > ?\(living) ORDER BY row"),
          arguments: [store.owner, row])
      }
    while let row = try rows.next() { guard try look(row, named: search.meansEverything) else { return } }
  }

  /// How many items cannot be read.
  func damagedItems() throws -> Int {
    var count = 0
    try search(.everything) { found in
      if found.item.state == .damaged { count += 1 }
      return true
    }
    return count
  }
}

extension Store {
  /// The indexes of the items, one in each access group, that a search names with all primary attributes of its class;
  /// nil for any other search.
  fileprivate func nameIndexes(of search: ItemSearch) -> [[UInt8]]? {
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

  fileprivate func damagedItem(_ row: ItemRow) -> Item {
    Item(
      id: ItemID(bytes: row.id), state: .damaged, itemClass: nil, attributes: [:], access: .none,
      accessibility: .whenUnlocked, created: 0, modified: 0)
  }
}

extension ItemSearch {
  /// The position of an item's access group among those of the search; nil where it is none of them.
  fileprivate func group(of item: Item) -> Int? {
    guard case .named(let names)? = groups, item.state != .damaged else { return 0 }
    return names.firstIndex { item.attributes[.accessGroup] == .text($0) }
  }

  /// The position of the last of its groups.
  fileprivate var lastGroup: Int {
    if case .named(let names)? = groups { names.count - 1 } else { 0 }
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
