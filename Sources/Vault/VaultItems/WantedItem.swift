package import Presence
import Primitives
import SecretModel
import VaultStore

/// An item about to be read, as it was when the request began.
package struct WantedItem {
  var record: ItemRecord
  var row: ItemRow
  var access: AccessControl
  var accessibility: Accessibility
  /// What it requires, without the alternatives that can no longer be opened.
  let requirement: Requirement
  /// The application password after scrypt.
  var password: SharedSecret?

  /// Whether the secret can be released without asking.
  package var isOpen: Bool { requirement.isOpen && !access.applicationPassword }

  /// The proofs that are required before it is released.
  package var need: Need {
    Need(record.name, row.reference, boundTo: row.generation, requirement, wantsPassword: row.derivation != nil)
  }

  /// Refuses a key that is only used inside the vault. A passkey has an export of its own.
  func requireReleasable() throws(VaultError) {
    guard !access.flags.contains(.privateKeyUsage) else {
      throw .invalidRequest("this key is used in the vault and never leaves it")
    }
    guard record.itemClass != .passkey else {
      throw .invalidRequest("the key of a passkey cannot be read: it only signs in to its site")
    }
  }
}

extension StoreSnapshot {
  /// The selected items, each of which may leave the vault.
  func toRead(_ selection: ItemSelection, _ context: Context?) throws -> [WantedItem] {
    let wanted = try wanted(selection, EarlierProofs(in: context, at: self))
    for item in wanted { try item.requireReleasable() }
    return wanted
  }

  /// The selected living items, each with what it requires.
  ///
  /// - Parameter proofs: the proofs of the context, for a search that skips items which would ask, or fails for them.
  /// - Throws: `itemGone` if an id or a name has no item; `itemInvalidated` if the set or the passcode of an item
  ///   is gone; `restoreDetected`.
  func wanted(_ selection: ItemSelection, _ proofs: EarlierProofs) throws -> [WantedItem] {
    switch selection {
    case .ids(let ids):
      return try ids.map { id in
        guard let row = try item(id.bytes), !row.dead else { throw VaultError.itemGone }
        return try wanted(row, store.record(of: row))
      }
    case .names(let names):
      return try names.map { name in
        guard let (row, record) = try found(named: name) else { throw VaultError.itemGone }
        return try wanted(row, record, named: name)
      }
    case .open(let names, let group):
      return try names.compactMap { try open($0, in: group) }
    case .search(let search):
      var wanted: [WantedItem] = []
      try ItemSearcher(self).each(search, proofs) { found in
        wanted.append(try self.wanted(found.row, found.record))
        return true
      }
      return wanted
    }
  }

  /// The command line's item of this name, whether it is synchronizable or not.
  private func found(named name: ItemName) throws -> (row: ItemRow, record: ItemRecord)? {
    var record = ItemRecord(named: name)
    if let found = try found(like: record) { return found }
    record.attributes[.synchronizable] = .number(1)
    return try found(like: record)
  }

  /// The item of this name in an access group; nil unless its secret may be released now without asking.
  private func open(_ name: ItemName, in group: String) throws -> WantedItem? {
    var attributes = NewItem(named: name, access: .none).attributes
    attributes[.accessGroup] = .text(group)
    var wanted = ItemRecord(itemClass: .genericPassword, attributes: attributes, created: 0, modified: 0)
    do {
      // Skip items that would ask before looking up their sets, which may be gone.
      var found = try found(like: wanted)
      if found == nil {
        wanted.attributes[.synchronizable] = .number(1)
        found = try self.found(like: wanted)
      }
      guard let (row, record) = found, let access = row.accessControl,
        Requirement(access).isOpen, !access.applicationPassword, !access.flags.contains(.privateKeyUsage)
      else { return nil }
      let item = try self.wanted(row, record)
      return try closed(item.accessibility) == nil ? item : nil
    } catch VaultError.itemDamaged {
      return nil
    } catch VaultError.itemInvalidated {
      return nil
    }
  }

  /// - Parameters:
  ///   - record: the row's sealed attributes, opened in this transaction; nil if they do not verify.
  ///   - name: the name that the item was asked for.
  func wanted(_ row: ItemRow, _ record: ItemRecord?, named name: ItemName? = nil) throws -> WantedItem {
    guard let record, let access = row.accessControl,
      let accessibility = Accessibility(rawValue: row.accessibility)
    else { throw VaultError.itemDamaged(name ?? record?.name) }
    guard !row.dead else { throw VaultError.itemInvalidated(record.name) }
    let requirement = Requirement(access).without(Wrapping.closed(row.itemKey, Requirement(access)))
    guard !requirement.alternatives.isEmpty else { throw VaultError.itemDamaged(record.name) }
    try authority.requireNoRestore(unless: requirement.isOpen && !access.applicationPassword)
    var setLives = true
    if requirement.mentions(.boundFinger) {
      setLives = try sets().contains { $0.set.generation == row.generation }
      guard setLives || !requirement.always(.boundFinger) else {
        // Report an item as dead only if its set is known to have changed. An unreadable set may be this item's.
        guard try damagedSets() == 0 else {
          throw VaultError.storeDamaged("the record of an enrolment set does not verify")
        }
        throw VaultError.itemInvalidated(record.name)
      }
    }
    return WantedItem(
      record: record, row: row, access: access, accessibility: accessibility,
      requirement: setLives ? requirement : requirement.without(.boundFinger))
  }
}
