import GRDB
import Presence
import Primitives
import SecretModel
import VaultStore

/// Stores, changes and removes items in one transaction.
struct ItemWriter {
  let change: StoreTransaction
  private let sealer: ItemSealer
  /// Nil when changes of another machine are stored.
  private let journal: SyncJournal?

  private var store: OpenedStore { change.store }
  private var db: Database { change.db }

  init(_ change: StoreTransaction) { self.init(change, journal: SyncJournal(change)) }

  init(_ change: StoreTransaction, journal: SyncJournal?) {
    self.change = change
    self.journal = journal
    sealer = ItemSealer(change, ItemKeys(change))
  }

  /// Stores an item. Replaces a living item with the same primary attributes only if `replacing`, and a dead one
  /// always.
  func insert(
    _ new: ItemRecord, _ protection: ItemProtection, secret: borrowing SecretBytes, replacing: Bool
  ) throws -> Item {
    let nameIndex = store.nameIndex(new)
    let old = try replaceable(new, nameIndex, replacing)
    if let old, !old.dead, !replacing { throw VaultError.duplicateItem }
    if old == nil, new.itemClass == .passkey { try change.requireRoom(forPasskey: new) }
    var record = new
    record.modified = secondsSince1970()
    var row = ItemRow(
      id: randomID(), owner: store.owner, nameIndex: nameIndex, access: protection.access,
      accessibility: protection.accessibility, derivation: protection.password?.parameters.encoded)
    let earlier = old.flatMap { store.record(of: $0) }
    if let old, !old.dead {
      row.row = old.row
      row.id = old.id
      row.revision = try old.nextRevision
      record.created = earlier?.created ?? record.created
    }
    let bound = try protection.bound.map { try current($0) }
    row.generation = bound?.set.generation
    let box = try sealer.fill(
      &row, record, protection.requirement, secret: secret, bound: bound, password: protection.password?.key,
      accessibility: protection.accessibility)
    // Write nothing before this point: if the new item is refused, a dead one of the same name must remain.
    if let old, let place = old.row {
      try change.removeFromIndex(place, earlier)
      // An item that replaces a dead one is new, at the end of the order.
      if old.dead { try ItemRow.delete(place, db) }
    }
    // A new password starts with no failed tries.
    change.authority[.applicationPassword(item: row.id)] = Tries()
    try row.write(db, secret: box)
    if let place = row.row { try change.addToIndex(place, record) }
    try journal?.stored(record, row.id, protection, secret: secret)
    guard let item = store.item(of: row, record) else {
      throw VaultError.internalError("an item cannot be read back")
    }
    return item
  }

  /// Changes one item, whose secret was released for this.
  ///
  /// - Parameter protection: the new protection; nil if the access control stays the same.
  func rewrite(_ item: WantedItem, _ changes: ItemChange, secret: borrowing SecretBytes, _ protection: ItemProtection?)
    throws
  {
    guard var row = try change.item(item.row.id), row.reference == item.row.reference, let place = row.row else {
      throw VaultError.busy("\(item.record.name) was changed meanwhile")
    }
    let record = try changed(item.record, changes)
    let access = protection?.access ?? item.access
    let accessibility = changes.accessibility ?? item.accessibility
    guard access.flags.contains(.privateKeyUsage) || !item.access.flags.contains(.privateKeyUsage) else {
      throw VaultError.invalidRequest("this key is used in the vault and never leaves it")
    }
    row.nameIndex = store.nameIndex(record)
    if row.nameIndex != item.row.nameIndex, let other = try replaceable(record, row.nameIndex, false) {
      guard other.dead, let place = other.row else { throw VaultError.duplicateItem }
      try change.removeFromIndex(place, store.record(of: other))
      try ItemRow.delete(place, db)
    }
    row.revision = try row.nextRevision
    row.access = Int64(bitPattern: access.flags.rawValue)
    row.accessibility = accessibility.rawValue
    let requirement = Requirement(access)
    // Without a new protection, a closed wrapping stays closed: the change does not bind it to another set or passcode.
    let closed = protection == nil ? Set(requirement.wrappings).subtracting(item.requirement.wrappings) : []
    if !closed.isSubset(of: Wrapping.closed(row.itemKey, requirement)), try change.damagedSets() > 0 {
      // The unreadable set may be this item's.
      throw VaultError.storeDamaged("the record of an enrolment set does not verify")
    }
    var bound: StoredSet?
    if requirement.without(closed).mentions(.boundFinger) {
      bound =
        try protection?.bound.map { try current($0) }
        ?? change.sets().first { $0.set.generation == item.row.generation }
      guard bound != nil else { throw VaultError.setChanged }
    }
    row.generation = bound?.set.generation
    var password = item.password
    if let protection {
      password = protection.password?.key
      row.derivation = protection.password?.parameters.encoded
    }
    try change.removeFromIndex(place, item.record)
    let box = try sealer.fill(
      &row, record, requirement, closed: closed, secret: secret, bound: bound, password: password,
      accessibility: accessibility)
    try row.write(db, secret: box)
    try change.addToIndex(place, record)
    try journal?.stored(
      record, row.id, ItemProtection(access: access, accessibility: accessibility), secret: secret)
  }

  /// The row that a new item replaces. A damaged row can only be replaced.
  private func replaceable(_ record: ItemRecord, _ index: [UInt8], _ replace: Bool) throws -> ItemRow? {
    do {
      return try change.item(like: record, index)
    } catch VaultError.itemDamaged where replace {
      if let row = try Int64.fetchOne(
        db.cachedStatement(sql: "SELECT row FROM item WHERE owner = ? AND name_index = ?"),
        arguments: [store.owner, index.data])
      {
        try change.removeFromIndex(row, nil)
      }
      try db.execute(sql: "DELETE FROM item WHERE owner = ? AND name_index = ?", arguments: [store.owner, index.data])
      return nil
    }
  }

  private func changed(_ old: ItemRecord, _ changes: ItemChange) throws -> ItemRecord {
    if old.itemClass == .passkey {
      // The site relies on the values that it got when the passkey was made.
      let fixed = changes.attributes.keys.contains { ![.account, .label, .synchronizable].contains($0) }
      guard !fixed, changes.access.map({ Passkey.accessControls.contains($0) }) ?? true else {
        throw VaultError.invalidRequest("only the names and the rule of a passkey can be changed")
      }
    }
    var record = old
    for (name, value) in changes.attributes { record.attributes[name] = value }
    if record.attributes[.accessGroup] == nil {
      record.attributes[.accessGroup] = .text(AccessGroup.commandLine)
    }
    record.modified = secondsSince1970()
    try record.check()
    return record
  }

  /// Removes the selected items, damaged ones included, and returns their number.
  ///
  /// - Throws: `itemGone` if a name or a search finds none; ids that are gone are ignored.
  func delete(_ selection: ItemSelection) throws -> Int {
    var doomed: [Int64: (id: [UInt8], record: ItemRecord?)] = [:]
    func find(_ search: ItemSearch) throws {
      let before = doomed.count
      var search = search
      search.interaction = .allow
      try ItemSearcher(change).each(search) { found in
        if let row = found.row.row { doomed[row] = (found.row.id, found.record) }
        return true
      }
      guard doomed.count > before else { throw VaultError.itemGone }
    }
    switch selection {
    case .ids(let ids):
      for id in ids {
        if let row = try change.item(id.bytes), let place = row.row {
          doomed[place] = (row.id, store.record(of: row))
        }
      }
    case .names(let names): for name in Set(names) { try find(ItemSearch(named: name)) }
    case .open:
      for item in try change.wanted(selection, EarlierProofs()) {
        if let place = item.row.row { doomed[place] = (item.row.id, item.record) }
      }
    case .search(let search): try find(search)
    }
    for (row, (id, record)) in doomed {
      try change.removeFromIndex(row, record)
      try ItemRow.delete(row, db)
      try journal?.removed(id)
    }
    return doomed.count
  }

  /// The current set. Throws if it has changed since it was read.
  private func current(_ set: StoredSet) throws -> StoredSet {
    guard let now = try change.set(of: set.set.reader, set.set.nature), now.digest == set.digest else {
      throw VaultError.setChanged
    }
    return now
  }
}
