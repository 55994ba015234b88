import GRDB
import Glibc
import Keys
import SecureMemory

extension Vault {
  /// Releases secrets by id: one touch, or one passcode, for all of them, or nothing. Without a context only what asks
  /// for nothing.
  package func secrets(of ids: [ItemID], reason: String?, in handle: ContextHandle?)
    async throws(VaultError) -> [ReleasedItem]
  {
    let store = store
    // What asks for nothing is released in the look that finds it.
    let (wanted, open) = try store.read { db, authority in
      let wanted = try Self.wanted(ids, store, db, authority)
      try Self.requireReleasable(wanted)
      let open = wanted.allSatisfy(\.isOpen)
      return (wanted, open ? try Self.release(wanted, Evidence(), store, db, authority) : nil)
    }
    guard wanted.count == ids.count else { throw .itemGone }
    if let open { return open }
    return try await authorized(wanted, reason, in: handle) { wanted, evidence throws(VaultError) in
      try self.release(wanted, evidence)
    }
  }

  /// Refuses keys that are only ever used in the vault.
  static func requireReleasable(_ wanted: [WantedItem]) throws(VaultError) {
    guard !wanted.contains(where: { $0.access.flags.contains(.privateKeyUsage) }) else {
      throw .invalidRequest("this key is used in the vault and never leaves it")
    }
  }

  /// Whether reading the item in this context would ask for nothing.
  package func isSatisfied(_ id: ItemID, by handle: ContextHandle?) throws(VaultError) -> Bool {
    guard let item = try wanted([id]).first else { return false }
    let context = handle.flatMap { contexts[$0] }
    if item.row.derivation != nil, context?.applicationPassword == nil { return false }
    let evidence = if let context { try evidence(of: context) } else { Evidence() }
    return item.isSatisfied(by: evidence)
  }

  func wanted(_ ids: [ItemID]) throws(VaultError) -> [WantedItem] {
    let store = store
    return try store.read { db, authority in try Self.wanted(ids, store, db, authority) }
  }

  private static func wanted(_ ids: [ItemID], _ store: Store, _ db: Database, _ authority: Authority) throws
    -> [WantedItem]
  {
    try ids.compactMap { id in
      try store.item(id.bytes, db).flatMap { row in
        row.dead ? nil : try Self.wanted(row, named: nil, store, db, authority)
      }
    }
  }

  static func wanted(_ row: ItemRow, named name: ItemName?, _ store: Store, _ db: Database, _ authority: Authority)
    throws -> WantedItem
  {
    guard let record = store.record(of: row), let access = row.accessControl,
      let accessibility = Accessibility(rawValue: row.accessibility)
    else { throw VaultError.itemDamaged(name) }
    guard !row.dead else { throw VaultError.itemInvalidated(record.name) }
    let requirement = Requirement(access).without(Wrapping.closed(row.itemKey, Requirement(access)))
    guard !requirement.alternatives.isEmpty else { throw VaultError.itemDamaged(record.name) }
    try authority.requireNoRestore(unless: requirement.isOpen && !access.applicationPassword)
    var setLives = true
    if requirement.mentions(.boundFinger) {
      setLives = try store.sets(db, authority).contains { $0.set.generation == row.generation }
      guard setLives || !requirement.always(.boundFinger) else {
        // Only a set that is known to have changed ends an item; one that cannot be read may be this one.
        guard try store.damagedSets(db, authority) == 0 else {
          throw VaultError.storeDamaged("the record of an enrolment set does not verify")
        }
        throw VaultError.itemInvalidated(record.name)
      }
    }
    return WantedItem(
      record: record, row: row, access: access, accessibility: accessibility,
      requirement: setLives ? requirement : requirement.without(.boundFinger))
  }

  /// The one place where an item's key is unwrapped. It looks at the store anew: row, revision and set must be what
  /// the proof was given for.
  func release(_ wanted: [WantedItem], _ evidence: Evidence) throws(VaultError) -> [ReleasedItem] {
    let store = store
    return try store.read { db, authority in try Self.release(wanted, evidence, store, db, authority) }
  }

  private static func release(
    _ wanted: [WantedItem], _ evidence: Evidence, _ store: Store, _ db: Database, _ authority: Authority
  ) throws -> [ReleasedItem] {
    if let grant = evidence.grant {
      guard try store.set(of: grant, db, authority) != nil else { throw VaultError.setChanged }
    }
    try evidence.passcode?.requireCurrent(store, db, authority)
    return try wanted.map { item in
      try authority.requireNoRestore(unless: item.isOpen)
      guard let row = try store.item(item.row.id, db), row.reference == item.row.reference else {
        throw VaultError.busy("\(item.record.name) was changed meanwhile")
      }
      guard let classKey = try store.classKey(item.accessibility, db, authority) else {
        throw VaultError.itemInvalidated(item.record.name)
      }
      let satisfied = item.requirement.alternatives.first { item.isSatisfied($0, by: evidence) }
      guard let satisfied else { throw VaultError.touchRefused }
      let keys = Requirement.wrapping(of: satisfied)
      var parts = WrappingParts(classKey: classKey)
      if keys.contains(.boundFinger) {
        guard let set = try store.sets(db, authority).first(where: { $0.set.generation == row.generation }) else {
          throw VaultError.touchRefused
        }
        parts.add(setKey: try store.setKey(of: set))
      }
      if let password = item.password { parts.add(applicationPassword: password.secret) }
      let wrong = item.password == nil ? VaultError.itemDamaged(item.record.name) : .wrongApplicationPassword
      guard let shown = store.item(of: row, item.record) else { throw VaultError.itemDamaged(item.record.name) }
      return ReleasedItem(
        shown,
        secret: try store.open(
          row, item.record, keys, under: parts, passcode: evidence.passcode?.key,
          otherwise: wrong, db))
    }
  }
}

/// An item about to be read, as it was when the request began.
struct WantedItem {
  var record: ItemRecord
  var row: ItemRow
  var access: AccessControl
  var accessibility: Accessibility
  /// What is asked for, without the ways that are closed for good.
  let requirement: Requirement
  /// The application password after scrypt.
  var password: SecretBox?

  /// Nothing stands between the request and the secret.
  var isOpen: Bool { requirement.isOpen && !access.applicationPassword }

  func isSatisfied(by evidence: Evidence) -> Bool {
    requirement.alternatives.contains { isSatisfied($0, by: evidence) }
  }

  func isSatisfied(_ alternative: Set<Requirement.Factor>, by evidence: Evidence) -> Bool {
    alternative.allSatisfy { factor in
      switch factor {
      case .finger: evidence.grant?.covers(row.reference) ?? false
      case .boundFinger:
        evidence.grant.map { $0.covers(row.reference) && $0.generation == row.generation } ?? false
      case .passcode, .passcodeGate: evidence.passcode != nil
      }
    }
  }
}
