import GRDB
import Glibc
import Presence
package import VaultStore

/// A row that a search has found. The record is nil if the row is damaged.
struct FoundItem {
  var row: ItemRow
  var record: ItemRecord?
  var item: Item
  /// Its position in the results of the search.
  var place: ItemPlace
}

/// Finds items in a snapshot of a store.
package struct ItemSearcher {
  /// The maximum number of items in a page.
  private static let pageLimit = 1_000
  /// A page ends when the sealed attributes of its items reach this many bytes, so that it fits into a message.
  private static let pageSize = 4 << 20

  let snapshot: StoreSnapshot

  private var store: OpenedStore { snapshot.store }

  package init(_ snapshot: StoreSnapshot) { self.snapshot = snapshot }

  /// Passes each found item to `show`, in the order of the access groups and in each the oldest first, until `show`
  /// returns false.
  ///
  /// - Parameter proofs: the proofs of the context. Used if the search skips items that would ask, or fails for them.
  func each(_ search: ItemSearch, _ proofs: EarlierProofs = EarlierProofs(), _ show: (FoundItem) throws -> Bool) throws
  {
    var left = search.limit ?? .max
    guard left > 0 else { return }
    let after = try search.after.map { try store.place(of: $0, in: search) }
    let first = after?.group ?? 0
    func offer(_ found: FoundItem) throws -> Bool {
      guard try mayBeShown(found, search.interaction, proofs) else { return true }
      left -= 1
      return try show(found) && left > 0
    }
    var later: [Int: [FoundItem]] = [:]
    try visit(search, after: after) { found in
      if let after, found.place <= after { return true }
      let group = found.place.group
      guard group != first else { return try offer(found) }
      // Skipped items do not count for the limit.
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

  /// Whether the search finds an item, or skips it because its secret would ask a person.
  ///
  /// - Throws: `interactionNotAllowed` if it would ask and the search is to fail in that case.
  private func mayBeShown(_ found: FoundItem, _ interaction: ItemSearch.Interaction, _ proofs: EarlierProofs) throws
    -> Bool
  {
    guard interaction != .allow, found.item.state == .living,
      !Requirement(found.item.access).isOpen || found.item.access.applicationPassword
    else { return true }
    if try proofs.satisfies(snapshot.wanted(found.row, found.record).need) { return true }
    guard interaction == .skip else { throw VaultError.interactionNotAllowed }
    return false
  }

  /// Visits the matching items of all groups, oldest first, until the visitor returns false.
  private func visit(_ search: ItemSearch, after: ItemPlace?, _ visitor: (FoundItem) throws -> Bool) throws {
    /// `named`: the search names this very row, so it is found even if it is damaged.
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
      var rows = try Set(ids).compactMap { try snapshot.item($0.bytes) }
      rows.sort { ($0.row ?? 0) < ($1.row ?? 0) }
      for row in rows { guard try look(row, named: true) else { return } }
      return
    }
    if let indexes = store.nameIndexes(of: search) {
      for index in indexes {
        let row = try ItemRow.fetchOne(
          snapshot.db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?"),
          arguments: [store.owner, index.data])
        if let row { guard try look(row, named: true) else { return } }
      }
      return
    }
    // If only living items are wanted, skip rows marked as dead without opening them.
    let living = search.states == [.living] ? " AND dead = 0" : ""
    // In the last group, rows before the position need not be read.
    let row = after.flatMap { $0.group == search.lastGroup ? $0.row : nil } ?? 0
    let rows =
      if let itemClass = search.itemClass {
        try ItemRow.fetchCursor(
          snapshot.db.cachedStatement(
            sql: """
              SELECT \(ItemRow.columns(of: "item")) FROM item_index JOIN item ON item.row = item_index.row
              WHERE item_index.tag = ? AND item_index.row > ? AND item.owner = ?\(living) ORDER BY item_index.row
              """), arguments: [try narrowest(store.tags(for: search, in: itemClass)).data, row, store.owner])
      } else {
        // `+owner` prevents the index over owner and name, with which SQLite would sort all rows for every page.
        try ItemRow.fetchCursor(
          snapshot.db.cachedStatement(
            sql: "SELECT \(ItemRow.columns) FROM item WHERE +owner = ? AND row > ?\(living) ORDER BY row"),
          arguments: [store.owner, row])
      }
    while let row = try rows.next() { guard try look(row, named: search.meansEverything) else { return } }
  }

  /// The tag that the fewest rows have.
  private func narrowest(_ tags: [[UInt8]]) throws -> [UInt8] {
    guard tags.count > 1 else { return tags[0] }
    // Count only up to the best count so far. The first limit, 256, is what a search reads in about a millisecond.
    var best = (tag: tags[0], count: 256)
    for tag in tags {
      let count = try Int.fetchOne(
        snapshot.db.cachedStatement(
          sql: "SELECT count(*) FROM (SELECT 1 FROM item_index WHERE tag = ? LIMIT ?)"),
        arguments: [tag.data, best.count])
      if let count, count < best.count { best = (tag, count) }
    }
    return best.tag
  }

  /// One page of what a search finds.
  func page(_ search: ItemSearch, _ proofs: EarlierProofs) throws -> ItemPage {
    var page = ItemPage(items: [], next: nil)
    var size = 0
    var last: ItemPlace?
    // Whatever the client's limit, collect at most one item more than a page, to learn whether there is another page.
    var bounded = search
    bounded.limit = min(search.limit ?? .max, Self.pageLimit + 1)
    try each(bounded, proofs) { found in
      if let last, page.items.count == Self.pageLimit || size >= Self.pageSize {
        page.next = store.cursor(last, in: search)
        return false
      }
      page.items.append(found.item)
      size += found.row.attributes.count
      last = found.place
      return true
    }
    return page
  }

  /// The most items in a page of ``found(_:in:after:)``, which tells little of each.
  private static let foundLimit = 4_000

  /// One page of the items of the Secret Service with all of these attributes.
  func found(_ attributes: [String: String], in collection: String?, after: ItemCursor?) throws -> FoundSecrets {
    var search = SecretServiceItem.search(attributes, in: collection)
    search.after = after
    search.limit = Self.foundLimit + 1
    var page = FoundSecrets(isLocked: try snapshot.closed(.afterFirstUnlock) != nil)
    var count = 0
    var last: ItemPlace?
    try each(search) { found in
      if let last, count == Self.foundLimit {
        page.next = store.cursor(last, in: search)
        return false
      }
      (count, last) = (count + 1, found.place)
      if let secret = SecretServiceItem.found(found.item, with: attributes) { page.secrets.append(secret) }
      return true
    }
    return page
  }

  /// The number of items that cannot be read.
  package func damagedItems() throws -> Int {
    var count = 0
    try each(.everything) { found in
      if found.item.state == .damaged { count += 1 }
      return true
    }
    return count
  }
}

extension OpenedStore {
  /// The name indexes for a search with all primary attributes of its class: for each access group, and for
  /// synchronizable and other items, as the search wants them. Nil for any other search.
  fileprivate func nameIndexes(of search: ItemSearch) -> [[UInt8]]? {
    guard let itemClass = search.itemClass, !search.ignoresCase else { return nil }
    var attributes = search.attributes
    let synchronizable: [AttributeValue] =
      switch search.synchronizable {
      case .no: [.number(0)]
      case .yes: [.number(1)]
      case .any: [.number(0), .number(1)]
      }
    attributes[.synchronizable] = synchronizable[0]
    var groups = attributes[.accessGroup].map { [$0] } ?? []
    if groups.isEmpty, case .named(let names)? = search.groups { groups = names.map { .text($0) } }
    guard !groups.isEmpty else { return nil }
    attributes[.accessGroup] = groups[0]
    guard itemClass.primaryAttributes.allSatisfy({ attributes[$0] != nil }) else { return nil }
    return groups.flatMap { group in
      attributes[.accessGroup] = group
      return synchronizable.map { value in
        attributes[.synchronizable] = value
        return nameIndex(ItemRecord(itemClass: itemClass, attributes: attributes, created: 0, modified: 0))
      }
    }
  }

  fileprivate func damagedItem(_ row: ItemRow) -> Item {
    Item(
      id: ItemID(bytes: row.id), state: .damaged, itemClass: nil, attributes: [:], access: .none,
      accessibility: .whenUnlocked, created: 0, modified: 0)
  }
}

extension ItemSearch {
  /// The position of an item's access group among those of the search; nil if it is none of them.
  fileprivate func group(of item: Item) -> Int? {
    guard case .named(let names)? = groups, item.state != .damaged else { return 0 }
    return names.firstIndex { item.attributes[.accessGroup] == .text($0) }
  }

  /// The position of the last of its groups.
  fileprivate var lastGroup: Int {
    if case .named(let names)? = groups { names.count - 1 } else { 0 }
  }

  /// Whether the search names a class, ids or an attribute. A search that names nothing must not delete.
  var namesSomething: Bool {
    itemClass != nil || ids != nil || attributes.contains { $0.key != .accessGroup && !$0.value.isEmpty }
  }

  /// Whether the search has no condition on an item's attributes.
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
    guard attributesMatch, let pattern else { return attributesMatch }
    let names = [ItemName(of: record.itemClass, record.attributes), record.name]
    return names.contains { Self.matches($0.description, pattern) }
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
