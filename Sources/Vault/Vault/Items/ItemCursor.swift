import Keys
import SecretModel

/// A place in the order of what a search finds: by access group first, in each group the oldest first.
struct ItemPlace: Comparable {
  /// The position of the item's group among those of the search.
  var group: Int
  var row: Int64

  static func < (left: Self, right: Self) -> Bool { (left.group, left.row) < (right.group, right.row) }
}

extension Store {
  private static let macSize = 16

  /// The cursor of a place, good for searches with the same order of groups.
  func cursor(_ place: ItemPlace, in search: ItemSearch) -> ItemCursor {
    var part = CanonicalEncoding()
    part.append(tag: 1, UInt64(place.group))
    part.append(tag: 2, UInt64(bitPattern: place.row))
    return ItemCursor(bytes: mac(part.bytes, search) + part.bytes)
  }

  /// - Throws: `invalidRequest` for a cursor that was not made here for this order.
  func place(of cursor: ItemCursor, in search: ItemSearch) throws(VaultError) -> ItemPlace {
    let part = Array(cursor.bytes.dropFirst(Self.macSize))
    var decoder = CanonicalDecoder(part)
    guard mac(part, search) == Array(cursor.bytes.prefix(Self.macSize)),
      let group = try? decoder.number(1), let row = try? decoder.number(2), decoder.isAtEnd
    else { throw .invalidRequest("this is no place in what the search finds") }
    return ItemPlace(group: Int(truncatingIfNeeded: group), row: Int64(bitPattern: row))
  }

  private func mac(_ place: [UInt8], _ search: ItemSearch) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "cursor")
    part.append(tag: 2, UInt64(owner))
    part.append(tag: 3, place)
    if case .named(let names)? = search.groups { for name in names { part.append(tag: 4, name) } }
    return Array(MAC.hmacSHA256(key: keys.index, part.bytes).prefix(Self.macSize))
  }
}

extension Moment {
  /// The most items of a page.
  private static let pageLimit = 1_000
  /// A page ends with the item whose attributes reach this number of bytes, sealed: a message has to hold them.
  private static let pageSize = 4 << 20

  /// What a search finds, as far as one page goes.
  func page(_ search: ItemSearch, _ shown: Shown) throws -> ItemPage {
    var page = ItemPage(items: [], next: nil)
    var size = 0
    var last: ItemPlace?
    // Whatever limit the client names, no more is collected than tells whether there is another page.
    var bounded = search
    bounded.limit = min(search.limit ?? .max, Self.pageLimit + 1)
    try self.search(bounded, shown) { found in
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
}
