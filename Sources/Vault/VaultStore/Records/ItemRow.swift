package import GRDB
import Keys
internal import Primitives

/// A row of the `item` table, as it is on the disk. Nothing in it is trusted before its boxes are opened. The secret,
/// which may be large, is read only when it is opened.
package struct ItemRow: Equatable {
  package var row: Int64?
  /// The same for as long as the item lives: its persistent reference.
  package var id: [UInt8]
  var owner: Int64
  /// HMAC of the primary attributes.
  package var nameIndex: [UInt8]
  package var revision: Int64
  package var access: Int64
  package var accessibility: String
  package var generation: [UInt8]?
  package var dead: Bool
  package var attributes: [UInt8]
  /// The scrypt parameters of the application password; nil without one.
  package var derivation: [UInt8]?
  /// The item key, wrapped once for each alternative; nil when the item is dead.
  package var itemKey: [UInt8]?

  /// The row of a new item, whose attributes and key are still to be sealed.
  package init(
    id: [UInt8], owner: UInt32, nameIndex: [UInt8], access: AccessControl, accessibility: Accessibility,
    derivation: [UInt8]?
  ) {
    self.id = id
    self.owner = Int64(owner)
    self.nameIndex = nameIndex
    revision = 1
    self.access = Int64(bitPattern: access.flags.rawValue)
    self.accessibility = accessibility.rawValue
    dead = false
    attributes = []
    self.derivation = derivation
  }

  package var reference: ItemReference { ItemReference(id: id, revision: revision) }

  /// The revision after a change.
  ///
  /// - Throws: `itemDamaged` for the highest possible revision, which only an item from a forged backup can have.
  package var nextRevision: Int64 {
    get throws(VaultError) {
      guard revision < .max else { throw .itemDamaged(nil) }
      return revision + 1
    }
  }

  /// Nil where the stored flags are invalid, after an edit.
  package var accessControl: AccessControl? {
    try? AccessControl(.init(rawValue: UInt64(bitPattern: access)))
  }

  /// The columns that identify the item and its protection. They are bound to every box of the row.
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

  /// AAD of the attributes.
  func attributesAAD(_ databaseID: [UInt8]) -> [UInt8] {
    var aad = binding(databaseID, table: "item.attributes")
    aad.append(tag: 11, UInt64(dead ? 1 : 0))
    return aad.bytes
  }

  /// AAD of item key and secret. It contains the primary attributes, so that a row cannot be put in another's place.
  package func secretAAD(_ databaseID: [UInt8], _ record: ItemRecord) -> [UInt8] {
    var aad = binding(databaseID, table: "item")
    aad.append(tag: 12, Digest.sha256(record.primary))
    return aad.bytes
  }
}

extension ItemRow: FetchableRecord {
  /// The columns that are read, in this order.
  private enum Column: Int, CaseIterable {
    case row, id, owner, nameIndex, revision, access, accessibility, generation, dead, attributes, derivation, itemKey

    var name: String {
      switch self {
      case .nameIndex: "name_index"
      case .itemKey: "item_key"
      default: "\(self)"
      }
    }
  }

  package static let columns = columns(of: "")
  package static let names = Column.allCases.map(\.name)

  /// The columns, under the name of a table where several are joined.
  package static func columns(of table: String) -> String {
    names.map { table.isEmpty ? $0 : "\(table).\($0)" }.joined(separator: ", ")
  }

  /// Accepts any type of value, as SQLite may hold one after an edit. A wrong value fails to open later.
  package init(row: Row) {
    func number(_ column: Column) -> Int64 { Int64.fromDatabaseValue(row[column.rawValue]) ?? -1 }
    self.row = row[Column.row.rawValue]
    id = row.bytes(Column.id.rawValue)
    owner = number(.owner)
    nameIndex = row.bytes(Column.nameIndex.rawValue)
    revision = number(.revision)
    access = number(.access)
    accessibility = String.fromDatabaseValue(row[Column.accessibility.rawValue]) ?? ""
    generation = row.optionalBytes(Column.generation.rawValue)
    dead = number(.dead) != 0
    attributes = row.bytes(Column.attributes.rawValue)
    derivation = row.optionalBytes(Column.derivation.rawValue)
    itemKey = row.optionalBytes(Column.itemKey.rawValue)
  }

  private func value(_ column: Column) -> (any DatabaseValueConvertible)? {
    switch column {
    case .row: row
    case .id: id.data
    case .owner: owner
    case .nameIndex: nameIndex.data
    case .revision: revision
    case .access: access
    case .accessibility: accessibility
    case .generation: generation?.data
    case .dead: dead
    case .attributes: attributes.data
    case .derivation: derivation?.data
    case .itemKey: itemKey?.data
    }
  }

  private static let insertion =
    "INSERT OR REPLACE INTO item (\(columns), secret) VALUES (\(names.map { _ in "?, " }.joined())?)"

  package static func delete(_ row: Int64, _ db: Database) throws {
    try db.cachedStatement(sql: "DELETE FROM item WHERE row = ?").execute(arguments: [row])
  }

  /// Inserts the row, or replaces an earlier one and keeps its place in the order.
  package mutating func write(_ db: Database, secret: [UInt8]?) throws {
    try db.cachedStatement(sql: Self.insertion).execute(
      arguments: StatementArguments(Column.allCases.map(value) + [secret?.data]))
    row = row ?? db.lastInsertedRowID
  }
}

/// One revision of one item.
package struct ItemReference: Hashable, Sendable {
  package var id: [UInt8]
  var revision: Int64
}
