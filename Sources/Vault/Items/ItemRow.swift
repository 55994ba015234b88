import GRDB
import Keys
import SecureMemory

/// A row of the `item` table, as it is on the disk: nothing in it can be believed before it is opened.
struct ItemRow {
  var row: Int64?
  var id: [UInt8]
  var owner: Int64
  var nameIndex: [UInt8]
  var serviceIndex: [UInt8]
  var revision: Int64
  var access: Int64
  var accessibility: String
  var generation: [UInt8]?
  var dead: Bool
  var attributes: [UInt8]
  /// How the application password becomes a key; nil without one.
  var derivation: [UInt8]?
  /// The item key, wrapped; nil when the item is dead.
  var itemKey: [UInt8]?
  /// The secret, sealed under the item key; nil when the item is dead.
  var secret: [UInt8]?

  var reference: ItemReference { ItemReference(id: id, revision: revision) }

  /// The columns that say what the item is, bound to every box of the row. What the person may rename without a touch
  /// (nothing yet) stays out.
  private func binding(_ databaseID: [UInt8], table: String) -> CanonicalEncoding {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, UInt64(StoreDatabase.format))
    aad.append(tag: 2, databaseID)
    aad.append(tag: 3, table)
    aad.append(tag: 4, id)
    aad.append(tag: 5, UInt64(bitPattern: owner))
    aad.append(tag: 6, UInt64(bitPattern: revision))
    aad.append(tag: 7, accessibility)
    aad.append(tag: 8, optional: generation)
    aad.append(tag: 9, UInt64(bitPattern: access))
    aad.append(tag: 10, optional: derivation)
    return aad
  }

  /// AAD of the attributes, and with the primary attributes beside them the AAD of item key and secret.
  func attributesAAD(_ databaseID: [UInt8]) -> [UInt8] {
    var aad = binding(databaseID, table: "item.attributes")
    aad.append(tag: 11, UInt64(dead ? 1 : 0))
    return aad.bytes
  }

  func secretAAD(_ databaseID: [UInt8], name: ItemName) -> [UInt8] {
    var aad = binding(databaseID, table: "item")
    aad.append(tag: 12, name.service)
    aad.append(tag: 13, name.account)
    return aad.bytes
  }
}

/// The sealed attributes of an item.
struct ItemAttributes {
  var name: ItemName
  var created: Int64
  var modified: Int64

  var record: [UInt8] {
    var record = CanonicalEncoding()
    record.append(tag: 1, name.service)
    record.append(tag: 2, name.account)
    record.append(tag: 3, UInt64(bitPattern: created))
    record.append(tag: 4, UInt64(bitPattern: modified))
    return record.bytes
  }

  init(name: ItemName, created: Int64, modified: Int64) {
    self.name = name
    self.created = created
    self.modified = modified
  }

  init?(record bytes: [UInt8]) {
    var record = CanonicalDecoder(bytes)
    do {
      let service = try record.string(1)
      name = try ItemName(service: service, account: try record.string(2))
      created = Int64(bitPattern: try record.number(3))
      modified = Int64(bitPattern: try record.number(4))
    } catch {
      return nil
    }
  }
}

extension ItemRow: FetchableRecord {
  static let columns =
    "row, id, owner, name_index, service_index, revision, access, accessibility, generation, dead, attributes, "
    + "derivation, item_key, secret"

  /// Tolerates any type SQLite may hold after an edit: what is not what it should be fails to open later.
  init(row: Row) {
    self.row = row[0]
    id = row.bytes(1)
    owner = Self.number(row, 2)
    nameIndex = row.bytes(3)
    serviceIndex = row.bytes(4)
    revision = Self.number(row, 5)
    access = Self.number(row, 6)
    accessibility = String.fromDatabaseValue(row[7]) ?? ""
    generation = row.optionalBytes(8)
    dead = Self.number(row, 9) != 0
    attributes = row.bytes(10)
    derivation = row.optionalBytes(11)
    itemKey = row.optionalBytes(12)
    secret = row.optionalBytes(13)
  }

  private static func number(_ row: Row, _ column: Int) -> Int64 {
    Int64.fromDatabaseValue(row[column]) ?? -1
  }
}
