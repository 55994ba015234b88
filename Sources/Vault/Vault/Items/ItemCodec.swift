import GRDB
import Keys
import SecureMemory

/// The key of a wrapping comes from these, whichever the item's access control asks for. The passcode is no part of it:
/// see ``Wrapping/addPasscodeLayer(for:place:)``.
struct WrappingParts: ~Copyable {
  private var parts = SecretConcatenation()

  init(classKey: borrowing SecretBytes) {
    parts.append(tag: 1, classKey)
  }

  mutating func add(setKey: borrowing SecretBytes) { parts.append(tag: 2, setKey) }
  mutating func add(applicationPassword stretched: borrowing SecretBytes) { parts.append(tag: 3, stretched) }

  /// The wrapping key for exactly the item the AAD describes.
  func key(_ aad: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.wrappingKey(from: parts, info: aad)
  }
}

/// One way to an item's key: the sealed key, and the public half of the pair that was made for the passcode's layer.
struct Wrapping {
  var keys: Set<Requirement.Factor>
  /// Nil where the passcode has no part in it.
  var passcodeShare: [UInt8]?
  /// Empty where this way in is closed for good: the set or the passcode it hung on is gone.
  var box: [UInt8]

  var isClosed: Bool { box.isEmpty }

  static func encode(_ wrappings: [Wrapping]) -> [UInt8] {
    var list = CanonicalEncoding()
    for wrapping in wrappings {
      list.append(tag: 1, optional: wrapping.passcodeShare)
      list.append(tag: 2, wrapping.box)
    }
    return list.bytes
  }

  /// The wrappings of an access control, in its order; nil where the bytes are not that many.
  static func decode(_ bytes: [UInt8], _ requirement: Requirement) -> [Wrapping]? {
    var list = CanonicalDecoder(bytes)
    do {
      let wrappings = try requirement.wrappings.map { keys in
        Wrapping(keys: keys, passcodeShare: try list.optionalBytes(1), box: try list.bytes(2))
      }
      return list.isAtEnd ? wrappings : nil
    } catch {
      return nil
    }
  }

  static func closed(_ keys: Set<Requirement.Factor>) -> Wrapping { Wrapping(keys: keys, passcodeShare: nil, box: []) }

  /// The ways in that are closed for good.
  static func closed(_ bytes: [UInt8]?, _ requirement: Requirement) -> Set<Set<Requirement.Factor>> {
    let wrappings = bytes.flatMap { decode($0, requirement) } ?? []
    return Set(wrappings.filter(\.isClosed).map(\.keys))
  }

  /// Each wrapping of an item is sealed for its own place.
  static func aad(_ item: [UInt8], _ keys: Set<Requirement.Factor>) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, item)
    aad.append(tag: 2, UInt64((keys.contains(.boundFinger) ? 1 : 0) | (keys.contains(.passcode) ? 2 : 0)))
    return aad.bytes
  }
}

extension Moment {
  /// The item with the primary attributes of this record, or nil. Throws `itemDamaged` where the row is not what was
  /// written.
  func item(like record: ItemRecord) throws -> ItemRow? {
    let row = try ItemRow.fetchOne(
      db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE owner = ? AND name_index = ?"),
      arguments: [store.owner, store.nameIndex(record).data])
    guard let row else { return nil }
    guard store.record(of: row)?.primary == record.primary else { throw VaultError.itemDamaged(record.name) }
    return row
  }

  /// The item of this id, or nil.
  func item(_ id: [UInt8]) throws -> ItemRow? {
    try ItemRow.fetchOne(
      db.cachedStatement(sql: "SELECT \(ItemRow.columns) FROM item WHERE id = ? AND owner = ?"),
      arguments: [id.data, store.owner])
  }

  /// Seals a secret under a fresh item key, and that key once for each alternative of the access control; fills the
  /// row's boxes and gives that of the secret.
  ///
  /// Nothing is asked for: the passcode's layer is sealed for its public key (X25519), whose private half only the
  /// passcode gives. What is `closed` stays closed.
  func fill(
    _ row: inout ItemRow, _ record: ItemRecord, _ requirement: Requirement,
    closed: Set<Set<Requirement.Factor>> = [], secret: borrowing SecretBytes,
    bound: StoredSet?, password: SecretBox?, accessibility: Accessibility
  ) throws -> [UInt8] {
    try store.seal(record, into: &row)
    let aad = row.secretAAD(store.keys.databaseID, record)
    guard let classKey = try classKey(accessibility) else { throw VaultError.passcodeNotSet }
    do {
      let itemKey = try Random.key()
      var wrappings: [Wrapping] = []
      for keys in requirement.wrappings {
        guard !closed.contains(keys) else {
          wrappings.append(.closed(keys))
          continue
        }
        var parts = WrappingParts(classKey: classKey)
        if keys.contains(.boundFinger) {
          guard let bound else { throw VaultError.notEnrolled }
          parts.add(setKey: try setKey(of: bound))
        }
        if let password { parts.add(applicationPassword: password.secret) }
        let place = Wrapping.aad(aad, keys)
        var wrapping = Wrapping(
          keys: keys, passcodeShare: nil, box: try AEAD.seal(itemKey, key: try parts.key(place), aad: place))
        if keys.contains(.passcode) {
          guard let publicKey = try passcodePublicKey() else { throw VaultError.passcodeNotSet }
          try wrapping.addPasscodeLayer(for: publicKey, place: place)
        }
        wrappings.append(wrapping)
      }
      row.itemKey = Wrapping.encode(wrappings)
      return try AEAD.seal(secret, key: itemKey, aad: aad)
    } catch let error as KeysError {
      throw VaultError(keys: error)
    }
  }

  /// Opens an item's secret through one wrapping; `passcode` is the passcode key, for one with the passcode's layer. A
  /// wrapping that does not open under `parts` is `wrong`, a layer or secret that does not open is damage.
  func open(
    _ row: ItemRow, _ record: ItemRecord, _ keys: Set<Requirement.Factor>, under parts: borrowing WrappingParts,
    passcode: SecretBox?, otherwise wrong: VaultError
  ) throws -> SecretBytes {
    guard let requirement = row.accessControl.map(Requirement.init), let boxes = row.itemKey,
      let wrapping = Wrapping.decode(boxes, requirement)?.first(where: { $0.keys == keys }),
      let secret = try Row.fetchOne(
        db.cachedStatement(sql: "SELECT secret FROM item WHERE row = ?"), arguments: [row.row])?
        .optionalBytes(0)
    else { throw VaultError.itemDamaged(record.name) }
    let aad = row.secretAAD(store.keys.databaseID, record)
    let place = Wrapping.aad(aad, keys)
    var box = wrapping.box
    if keys.contains(.passcode) {
      guard let passcode else { throw VaultError.touchRefused }
      do {
        let privateKey = try DerivedPair.passcode.privateKey(of: passcode.secret, store.keys.databaseID)
        box = try wrapping.openedPasscodeLayer(with: privateKey, place: place)
      } catch {
        throw VaultError.itemDamaged(record.name)
      }
    }
    let key: SecretBytes
    do {
      key = try AEAD.open(box, key: try parts.key(place), aad: place)
    } catch .authenticationFailed {
      throw wrong
    } catch {
      throw VaultError(keys: error)
    }
    do {
      return try AEAD.open(secret, key: key, aad: aad)
    } catch .authenticationFailed {
      throw VaultError.itemDamaged(record.name)
    } catch {
      throw VaultError(keys: error)
    }
  }

  /// The items that ``kill(_:where:_:by:)`` would end. Changes nothing.
  func doomed(where condition: String, _ arguments: StatementArguments, by gone: Requirement.Factor?)
    throws -> [ItemRow]
  {
    try losing(gone, where: condition, arguments).filter { $0.left == nil }.map(\.row)
  }

  /// The living items that lose a factor, each with the ways in that are left to it; nil where none is.
  fileprivate func losing(
    _ gone: Requirement.Factor?, where condition: String, _ arguments: StatementArguments
  ) throws -> [(row: ItemRow, left: [Wrapping]?)] {
    try ItemRow.fetchAll(
      db, sql: "SELECT \(ItemRow.columns) FROM item WHERE dead = 0 AND owner = \(store.owner) AND (\(condition))",
      arguments: arguments
    ).compactMap { row in
      guard let gone, let access = row.accessControl, !Requirement(access).always(gone) else { return (row, nil) }
      // A row that cannot be read is damaged, which is not for this call to settle.
      guard let ways = row.itemKey.flatMap({ Wrapping.decode($0, Requirement(access)) }) else { return nil }
      let left = ways.map { $0.keys.contains(gone) ? .closed($0.keys) : $0 }
      return (row, left.allSatisfy(\.isClosed) ? nil : left)
    }
  }
}

extension Change {
  /// The row a new item takes the place of. A damaged one can be replaced, but not kept.
  func replaceable(_ record: ItemRecord, _ replace: Bool) throws -> ItemRow? {
    do {
      return try item(like: record)
    } catch VaultError.itemDamaged where replace {
      let index = store.nameIndex(record)
      if let row = try Int64.fetchOne(
        db.cachedStatement(sql: "SELECT row FROM item WHERE owner = ? AND name_index = ?"),
        arguments: [store.owner, index.data])
      {
        try removeFromIndex(row, nil)
      }
      try db.execute(sql: "DELETE FROM item WHERE owner = ? AND name_index = ?", arguments: [store.owner, index.data])
      return nil
    }
  }

  /// Ends items for good: their keys and secrets are overwritten, the name stays so that the loss can be told. Items
  /// with another way in, by the factors that stay, live on without the one that is gone.
  func kill(where condition: String, _ arguments: StatementArguments, by gone: Requirement.Factor?)
    throws -> [ItemName]
  {
    var lost: [ItemName] = []
    for (var row, left) in try losing(gone, where: condition, arguments) {
      if let left {
        try db.execute(
          sql: "UPDATE item SET item_key = ? WHERE row = ?", arguments: [Wrapping.encode(left).data, row.row])
        continue
      }
      if let record = store.record(of: row) {
        lost.append(record.name)
        row.dead = true
        try store.seal(record, into: &row)
      }
      try db.execute(
        sql: "UPDATE item SET dead = 1, attributes = ?, item_key = NULL, secret = NULL WHERE row = ?",
        arguments: [row.attributes.data, row.row])
    }
    return lost
  }
}

extension Store {
  /// The row's class and attributes; nil when any part of the row was changed since it was written.
  func record(of row: ItemRow) -> ItemRecord? {
    guard let bytes = try? openRecord(row.attributes, key: keys.attributes, aad: row.attributesAAD(keys.databaseID)),
      let record = ItemRecord(bytes: bytes)
    else { return nil }
    // A row under another's name would verify; the column it is found by must be its own.
    return row.nameIndex == nameIndex(record) ? record : nil
  }

  func item(of row: ItemRow, _ record: ItemRecord) -> Item? {
    guard let access = row.accessControl, let accessibility = Accessibility(rawValue: row.accessibility) else {
      return nil
    }
    return Item(
      id: ItemID(bytes: row.id), state: row.dead ? .dead : .living, itemClass: record.itemClass,
      attributes: record.attributes, access: access, accessibility: accessibility, created: record.created,
      modified: record.modified)
  }

  func seal(_ record: ItemRecord, into row: inout ItemRow) throws(VaultError) {
    row.attributes = try sealRecord(record.bytes, key: keys.attributes, aad: row.attributesAAD(keys.databaseID))
  }

  /// What the items are called; one that cannot be read has no name.
  func names(of rows: [ItemRow]) -> [ItemName] { rows.compactMap { record(of: $0)?.name } }
}
