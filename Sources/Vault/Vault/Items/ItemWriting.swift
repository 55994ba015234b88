import SecretModel
import SecureMemory

/// What an item is to be stored with.
struct ItemProtection {
  var access: AccessControl
  var accessibility: Accessibility
  /// The set that a new way in by a bound finger is bound to.
  var bound: StoredSet?
  /// The application password, where it has one.
  var password: StretchedPasscode?

  var requirement: Requirement { Requirement(access) }
}

extension Change {
  /// Stores an item: over a living one with the same primary attributes only where `replacing` says so, over a dead one
  /// always.
  func insert(
    _ new: ItemRecord, _ protection: ItemProtection, secret: borrowing SecretBytes, replacing: Bool
  ) throws -> Item {
    let old = try replaceable(new, replacing)
    if let old, !old.dead, !replacing { throw VaultError.duplicateItem }
    var record = new
    record.modified = secondsSince1970()
    var row = ItemRow(
      row: nil, id: randomID(), owner: Int64(store.owner), nameIndex: store.nameIndex(record), revision: 1,
      access: Int64(bitPattern: protection.access.flags.rawValue), accessibility: protection.accessibility.rawValue,
      dead: false, attributes: [], derivation: protection.password?.parameters.encoded)
    if let old, let place = old.row {
      let earlier = store.record(of: old)
      try removeFromIndex(place, earlier)
      if old.dead {
        // What is added over a dead item is a new one, at the end of the order.
        try ItemRow.delete(place, db)
      } else {
        row.row = place
        row.id = old.id
        row.revision = old.revision + 1
        record.created = earlier?.created ?? record.created
      }
    }
    // A new password starts with no guesses at it.
    authority[.applicationPassword(item: row.id)] = Tries()
    let bound = try protection.bound.map { try current($0) }
    row.generation = bound?.set.generation
    let box = try fill(
      &row, record, protection.requirement, secret: secret, bound: bound, password: protection.password?.key,
      accessibility: protection.accessibility)
    try row.write(db, secret: box)
    if let place = row.row { try addToIndex(place, record) }
    guard let item = store.item(of: row, record) else {
      throw VaultError.internalError("an item cannot be read back")
    }
    return item
  }

  /// Changes one item, which may ask for what reading it asks for: its secret was released for this.
  ///
  /// - Parameter protection: what it is to be stored with, where its access control changes.
  func rewrite(_ item: WantedItem, _ change: ItemChange, secret: borrowing SecretBytes, _ protection: ItemProtection?)
    throws
  {
    guard var row = try self.item(item.row.id), row.reference == item.row.reference, let place = row.row else {
      throw VaultError.busy("\(item.record.name) was changed meanwhile")
    }
    let record = try changed(item.record, change)
    let access = protection?.access ?? item.access
    let accessibility = change.accessibility ?? item.accessibility
    guard access.flags.contains(.privateKeyUsage) || !item.access.flags.contains(.privateKeyUsage) else {
      throw VaultError.invalidRequest("this key is used in the vault and never leaves it")
    }
    row.nameIndex = store.nameIndex(record)
    if row.nameIndex != item.row.nameIndex, let other = try replaceable(record, false) {
      guard other.dead, let place = other.row else { throw VaultError.duplicateItem }
      try removeFromIndex(place, store.record(of: other))
      try ItemRow.delete(place, db)
    }
    row.revision += 1
    row.access = Int64(bitPattern: access.flags.rawValue)
    row.accessibility = accessibility.rawValue
    let requirement = Requirement(access)
    // A way in that is gone stays gone: nobody has said that another set or passcode should take its place.
    let closed = protection == nil ? Set(requirement.wrappings).subtracting(item.requirement.wrappings) : []
    if !closed.isSubset(of: Wrapping.closed(row.itemKey, requirement)), try damagedSets() > 0 {
      // One that cannot be read may be this one.
      throw VaultError.storeDamaged("the record of an enrolment set does not verify")
    }
    var bound: StoredSet?
    if requirement.without(closed).mentions(.boundFinger) {
      bound =
        try protection?.bound.map { try current($0) } ?? sets().first { $0.set.generation == item.row.generation }
      guard bound != nil else { throw VaultError.setChanged }
    }
    row.generation = bound?.set.generation
    var password = item.password
    if let protection {
      password = protection.password?.key
      row.derivation = protection.password?.parameters.encoded
    }
    try removeFromIndex(place, item.record)
    let box = try fill(
      &row, record, requirement, closed: closed, secret: secret, bound: bound, password: password,
      accessibility: accessibility)
    try row.write(db, secret: box)
    try addToIndex(place, record)
  }

  private func changed(_ old: ItemRecord, _ change: ItemChange) throws -> ItemRecord {
    var record = old
    for (name, value) in change.attributes { record.attributes[name] = value }
    if record.attributes[.accessGroup] == nil {
      record.attributes[.accessGroup] = .text(AccessGroup.commandLine)
    }
    record.modified = secondsSince1970()
    try record.check()
    return record
  }

  /// Removes the items that are meant, damaged ones too, and gives their number.
  ///
  /// - Throws: `itemGone` where a name or a search means none; ids that are gone do not count.
  func delete(_ selection: ItemSelection) throws -> Int {
    var doomed: [Int64: ItemRecord?] = [:]
    func find(_ search: ItemSearch) throws {
      let before = doomed.count
      var search = search
      search.interaction = .allow
      try self.search(search) { found in
        if let row = found.row.row { doomed.updateValue(found.record, forKey: row) }
        return true
      }
      guard doomed.count > before else { throw VaultError.itemGone }
    }
    switch selection {
    case .ids(let ids):
      for id in ids {
        if let row = try item(id.bytes), let place = row.row {
          doomed.updateValue(store.record(of: row), forKey: place)
        }
      }
    case .names(let names): for name in Set(names) { try find(ItemSearch(named: name)) }
    case .search(let search): try find(search)
    }
    for (row, record) in doomed {
      try removeFromIndex(row, record)
      try ItemRow.delete(row, db)
    }
    return doomed.count
  }

  /// The set as it is now; refuses where it has changed since it was looked at.
  private func current(_ set: StoredSet) throws -> StoredSet {
    guard let now = try self.set(of: set.set.reader, set.set.nature), now.digest == set.digest else {
      throw VaultError.setChanged
    }
    return now
  }
}
