import Keys
import Presence
internal import Primitives
import SecretModel
import VaultStore

/// A position in the results of a search, which are ordered by access group, and in each group the oldest first.
struct ItemPlace: Comparable {
  /// The position of the item's group among those of the search.
  var group: Int
  var row: Int64

  static func < (left: Self, right: Self) -> Bool { (left.group, left.row) < (right.group, right.row) }
}

extension OpenedStore {
  private static let macSize = 16

  /// The cursor of a position, valid for searches with the same order of groups.
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
    guard MAC.areEqual(mac(part, search), Array(cursor.bytes.prefix(Self.macSize))),
      let group = try? decoder.number(1), let row = try? decoder.number(2), decoder.isAtEnd
    else { throw .invalidRequest("the cursor does not belong to this search") }
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
