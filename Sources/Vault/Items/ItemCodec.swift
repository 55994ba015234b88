import GRDB
import Keys
import SecureMemory

/// The key of a wrapping comes from these, whichever the item's access control asks for.
struct WrappingParts: ~Copyable {
  private var parts = SecretConcatenation()

  init(classKey: borrowing SecretBytes) {
    parts.append(tag: 1, classKey)
  }

  mutating func add(setKey: borrowing SecretBytes) { parts.append(tag: 2, setKey) }
  mutating func add(passcodeKey: borrowing SecretBytes) { parts.append(tag: 3, passcodeKey) }
  mutating func add(applicationPassword stretched: borrowing SecretBytes) { parts.append(tag: 4, stretched) }

  /// The wrapping key for exactly the item the AAD describes.
  func key(_ aad: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.wrappingKey(from: parts, info: aad)
  }
}

extension Store {
  func nameIndex(_ name: ItemName) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "name")
    part.append(tag: 2, name.service)
    part.append(tag: 3, name.account)
    return index(part)
  }

  func serviceIndex(_ service: String) -> [UInt8] {
    var part = CanonicalEncoding()
    part.append(tag: 1, "service")
    part.append(tag: 2, service)
    return index(part)
  }

  private func index(_ part: CanonicalEncoding) -> [UInt8] {
    MAC.hmacSHA256(key: keys.index, part.bytes)
  }

  /// The item of this name, or nil. Throws `itemDamaged` where the row is not what was written.
  func item(_ name: ItemName, _ db: Database) throws -> ItemRow? {
    let row = try ItemRow.fetchOne(
      db, sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?",
      arguments: [owner, nameIndex(name).data])
    guard let row else { return nil }
    guard attributes(of: row)?.name == name else { throw VaultError.itemDamaged(name) }
    return row
  }

  /// The row a new item of this name takes the place of. A damaged one can be replaced, but not kept.
  func replaceable(_ name: ItemName, _ db: Database, _ replace: Bool) throws -> ItemRow? {
    do {
      return try item(name, db)
    } catch VaultError.itemDamaged where replace {
      try db.execute(
        sql: "DELETE FROM item WHERE owner = ? AND name_index = ?", arguments: [owner, nameIndex(name).data])
      return nil
    }
  }

  /// The row's attributes; nil when any part of the row was changed since it was written.
  func attributes(of row: ItemRow) -> ItemAttributes? {
    guard let bytes = try? openRecord(row.attributes, key: keys.attributes, aad: row.attributesAAD(keys.databaseID)),
      let attributes = ItemAttributes(record: bytes)
    else { return nil }
    // A row under another's name would verify; the columns it is found by must be its own.
    guard row.nameIndex == nameIndex(attributes.name),
      row.serviceIndex == serviceIndex(attributes.name.service)
    else { return nil }
    return attributes
  }

  func summary(of row: ItemRow) -> ItemSummary {
    guard let attributes = attributes(of: row), let access = AccessControl(flags: UInt64(bitPattern: row.access)),
      let accessibility = Accessibility(rawValue: row.accessibility)
    else {
      return ItemSummary(
        name: nil, access: AccessControl(.none), accessibility: .whenUnlocked, created: 0, modified: 0, state: .damaged)
    }
    return ItemSummary(
      name: attributes.name, access: access, accessibility: accessibility, created: attributes.created,
      modified: attributes.modified, state: row.dead ? .dead : .alive)
  }

  /// Seals an item's secret under a fresh key, and that key under the wrapping; fills the row's boxes.
  func fill(
    _ row: inout ItemRow, _ attributes: ItemAttributes, secret: borrowing SecretBytes,
    under parts: borrowing WrappingParts
  ) throws(VaultError) {
    row.attributes = try sealRecord(attributes.record, key: keys.attributes, aad: row.attributesAAD(keys.databaseID))
    let aad = row.secretAAD(keys.databaseID, name: attributes.name)
    do {
      let itemKey = try Random.key()
      row.secret = try AEAD.seal(secret, key: itemKey, aad: aad)
      row.itemKey = try AEAD.seal(itemKey, key: try parts.key(aad), aad: aad)
    } catch {
      throw VaultError(keys: error)
    }
  }

  /// Opens an item's secret. A wrapping that does not open is `wrong`, a secret that does not is damage.
  func open(
    _ row: ItemRow, _ name: ItemName, under parts: borrowing WrappingParts, otherwise wrong: VaultError
  ) throws(VaultError) -> SecretBytes {
    guard let itemKey = row.itemKey, let secret = row.secret else { throw .itemInvalidated(name) }
    let aad = row.secretAAD(keys.databaseID, name: name)
    let key: SecretBytes
    do {
      key = try AEAD.open(itemKey, key: try parts.key(aad), aad: aad)
    } catch .authenticationFailed {
      throw wrong
    } catch {
      throw VaultError(keys: error)
    }
    do {
      return try AEAD.open(secret, key: key, aad: aad)
    } catch .authenticationFailed {
      throw .itemDamaged(name)
    } catch {
      throw VaultError(keys: error)
    }
  }

  /// Ends items for good: their keys and secrets are overwritten, the name stays so that the loss can be told.
  func kill(_ db: Database, where condition: String, _ arguments: StatementArguments) throws -> [ItemName] {
    var lost: [ItemName] = []
    let rows = try ItemRow.fetchAll(
      db, sql: "SELECT \(ItemRow.columns) FROM item WHERE dead = 0 AND owner = \(owner) AND (\(condition))",
      arguments: arguments)
    for var row in rows {
      if let attributes = attributes(of: row) {
        lost.append(attributes.name)
        row.dead = true
        row.attributes = try sealRecord(
          attributes.record, key: keys.attributes, aad: row.attributesAAD(keys.databaseID))
      }
      try db.execute(
        sql: "UPDATE item SET dead = 1, attributes = ?, item_key = NULL, secret = NULL WHERE row = ?",
        arguments: [row.attributes.data, row.row])
    }
    return lost
  }
}
