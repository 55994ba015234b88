import Executors
import Fingerprint
import GRDB
import Glibc
import Keys
import Primitives
package import SecureMemory

extension Vault {
  /// Stores an item: over a living one with the same primary attributes only where `replacing` says so, over a dead one
  /// always. Asks for the application password where the item is to have one and the context holds none, and for nothing
  /// else.
  ///
  /// - Throws: `duplicateItem` where one with the same primary attributes lives and is not to be replaced.
  @discardableResult
  package func add(
    _ item: NewItem, secret: consuming SecretBytes, replacing: Bool = false, in handle: ContextHandle?
  ) async throws(VaultError) -> Item {
    guard secret.count <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let record = ItemRecord(
      itemClass: item.itemClass, attributes: item.attributes, created: secondsSince1970(), modified: 0)
    let secret = SecretBox(secret)
    var stretched: StretchedPasscode?
    if item.access.applicationPassword {
      guard try passcodeIsSet() || item.accessibility != .passcodeSet else { throw .passcodeNotSet }
      stretched = try await Self.stretchNew(try await applicationPassword(for: record.name, in: handle), store.floor)
    }
    let added = try await insert(record, item.access, item.accessibility, secret, stretched, replacing: replacing)
    // A secret that was replaced is not to stay readable in the log, under a key that stays there as well.
    if replacing { store.database.forgetOldPages() }
    return added
  }

  /// The application password of a new item: the context's, else what the person answers.
  private func applicationPassword(for name: ItemName, in handle: ContextHandle?) async throws(VaultError) -> SecretBox
  {
    guard let handle else { throw .interactionNotAllowed }
    if let password = contexts[handle]?.applicationPassword { return password }
    return try await asking(in: handle) { context throws(VaultError) in
      guard let password = try await self.ask(.applicationPassword(name), context) else {
        throw .interactionNotAllowed
      }
      guard !password.secret.isEmpty else { throw .invalidPasscode("the application password is empty") }
      return password
    }
  }

  private func insert(
    _ record: ItemRecord, _ access: AccessControl, _ accessibility: Accessibility, _ secret: SecretBox,
    _ password: StretchedPasscode?, replacing: Bool
  ) async throws(VaultError) -> Item {
    try record.check()
    let requirement = Requirement(access)
    if accessibility == .passcodeSet || requirement.mentions(.passcode) {
      guard try passcodeIsSet() else { throw .passcodeNotSet }
    }
    let bound: StoredSet? = requirement.mentions(.boundFinger) ? try await setForBinding() : nil
    if requirement.mentions(.finger), bound == nil, !requirement.mentions(.passcodeGate) {
      _ = try await anyEnrolledSet()
    }
    let store = store
    return try store.commit(items: true) { db, authority in
      let old = try store.replaceable(record, db, replacing)
      if let old, !old.dead, !replacing { throw VaultError.duplicateItem }
      var record = record
      record.modified = secondsSince1970()
      var row = ItemRow(
        row: nil, id: randomID(), owner: Int64(store.owner), nameIndex: store.nameIndex(record), revision: 1,
        access: Int64(bitPattern: access.flags.rawValue), accessibility: accessibility.rawValue, dead: false,
        attributes: [], derivation: password?.parameters.encoded)
      if let old, let place = old.row {
        let earlier = store.record(of: old)
        try store.removeFromIndex(place, earlier, db)
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
      if let bound { row.generation = bound.set.generation }
      let box = try store.fill(
        &row, record, requirement, secret: secret.secret, bound: try bound.map { try store.current($0, db, authority) },
        password: password?.key, accessibility: accessibility, db, authority)
      try row.write(db, secret: box)
      if let place = row.row { try store.addToIndex(place, record, db) }
      guard let item = store.item(of: row, record) else {
        throw VaultError.internalError("an item cannot be read back")
      }
      return item
    }
  }

  /// The items meant, oldest first. Attributes are sealed but need no finger.
  package func items(_ search: ItemSearch) throws(VaultError) -> [Item] {
    let store = store
    return try store.read { db, _ in
      var found: [Item] = []
      try store.search(search, db) { found.append($0.item) }
      return found
    }
  }

  /// Changes items, all of them or none. A protected one asks for what reading it asks for.
  package func update(
    _ ids: [ItemID], _ change: ItemChange, secret: consuming SecretBytes?, reason: String?, in handle: ContextHandle?
  ) async throws(VaultError) {
    guard (secret?.count ?? 0) <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let fresh: SecretBox? = if let secret { SecretBox(secret) } else { nil }
    var seen: Set<ItemID> = []
    let ids = ids.filter { seen.insert($0).inserted }
    let wanted = try wanted(ids)
    guard wanted.count == ids.count else { throw .itemGone }
    guard !wanted.isEmpty else { return }
    var bound: StoredSet?
    if let access = change.access, Requirement(access).mentions(.boundFinger) { bound = try await setForBinding() }
    var password: StretchedPasscode?
    if change.access?.applicationPassword == true {
      guard let handle, let given = contexts[handle]?.applicationPassword else { throw .interactionNotAllowed }
      password = try await Self.stretchNew(given, store.floor)
    }
    let (newSet, newPassword) = (bound, password)
    try await authorized(wanted, reason, in: handle) { wanted, evidence throws(VaultError) in
      let released = try self.release(wanted, evidence)
      let store = self.store
      try store.commit(items: true) { db, authority in
        for (item, released) in zip(wanted, released) {
          if let fresh {
            try Self.rewrite(item, change, secret: fresh.secret, newSet, newPassword, store, db, authority)
          } else {
            try Self.rewrite(item, change, secret: released.secret, newSet, newPassword, store, db, authority)
          }
        }
      }
    }
    store.database.forgetOldPages()
  }

  private static func rewrite(
    _ item: WantedItem, _ change: ItemChange, secret: borrowing SecretBytes, _ newSet: StoredSet?,
    _ newPassword: StretchedPasscode?, _ store: Store, _ db: Database, _ authority: Authority
  ) throws {
    guard var row = try store.item(item.row.id, db), row.reference == item.row.reference, let place = row.row else {
      throw VaultError.busy("\(item.record.name) was changed meanwhile")
    }
    var record = item.record
    for (name, value) in change.attributes { record.attributes[name] = value }
    if record.attributes[.accessGroup] == nil {
      record.attributes[.accessGroup] = .text(AccessGroup.commandLine)
    }
    record.modified = secondsSince1970()
    try record.check()
    let access = change.access ?? item.access
    let accessibility = change.accessibility ?? item.accessibility
    guard access.flags.contains(.privateKeyUsage) || !item.access.flags.contains(.privateKeyUsage) else {
      throw VaultError.invalidRequest("this key is used in the vault and never leaves it")
    }
    row.nameIndex = store.nameIndex(record)
    if row.nameIndex != item.row.nameIndex, let other = try store.replaceable(record, db, false) {
      guard other.dead, let place = other.row else { throw VaultError.duplicateItem }
      try store.removeFromIndex(place, store.record(of: other), db)
      try ItemRow.delete(place, db)
    }
    row.revision += 1
    row.access = Int64(bitPattern: access.flags.rawValue)
    row.accessibility = accessibility.rawValue
    let requirement = Requirement(access)
    // A way in that is gone stays gone: nobody has said that another set or passcode should take its place.
    let closed = change.access == nil ? Set(requirement.wrappings).subtracting(item.requirement.wrappings) : []
    if !closed.isSubset(of: Wrapping.closed(row.itemKey, requirement)), try store.damagedSets(db, authority) > 0 {
      // One that cannot be read may be this one.
      throw VaultError.storeDamaged("the record of an enrolment set does not verify")
    }
    var bound: StoredSet?
    if requirement.without(closed).mentions(.boundFinger) {
      bound =
        try newSet.map { try store.current($0, db, authority) }
        ?? store.sets(db, authority).first { $0.set.generation == item.row.generation }
      guard bound != nil else { throw VaultError.setChanged }
    }
    row.generation = bound?.set.generation
    var password = item.password
    if change.access != nil {
      password = newPassword?.key
      row.derivation = newPassword?.parameters.encoded
    }
    try store.removeFromIndex(place, item.record, db)
    let box = try store.fill(
      &row, record, requirement, closed: closed, secret: secret, bound: bound, password: password,
      accessibility: accessibility, db,
      authority)
    try row.write(db, secret: box)
    try store.addToIndex(place, record, db)
  }

  /// Removes items, all of them or none, and gives their number; those that are gone already do not count. Needs no
  /// finger.
  @discardableResult
  package func delete(_ ids: [ItemID]) throws(VaultError) -> Int {
    let store = store
    guard !ids.isEmpty else { return 0 }
    let count = try store.commit(items: true) { db, _ in
      var count = 0
      for id in ids {
        guard let row = try store.item(id.bytes, db), let place = row.row else { continue }
        try store.removeFromIndex(place, store.record(of: row), db)
        try ItemRow.delete(place, db)
        count += 1
      }
      return count
    }
    forgetSoon()
    return count
  }

  /// Removes every item meant by a search and a condition, all of them or none, and says how many. Needs no finger.
  ///
  /// - Throws: `itemGone` where there are none; then nothing is written. `invalidRequest` for a search that names
  ///   neither a class nor items nor an attribute: it would empty the store.
  @discardableResult
  package func delete(_ search: ItemSearch, where isMeant: @Sendable (Item) -> Bool) throws(VaultError) -> Int {
    guard search.namesSomething else { throw .invalidRequest("say what to delete: a class, items or an attribute") }
    let store = store
    let count = try store.commit(items: true) { db, _ in
      var found: [(row: Int64, record: ItemRecord?)] = []
      try store.search(search, db) { meant in
        if isMeant(meant.item), let place = meant.row.row { found.append((place, meant.record)) }
      }
      guard !found.isEmpty else { throw VaultError.itemGone }
      for (row, record) in found {
        try store.removeFromIndex(row, record, db)
        try ItemRow.delete(row, db)
      }
      return found.count
    }
    forgetSoon()
    return count
  }

  /// Whether there is a passcode. Looks at its slot alone, so that damage elsewhere does not stand in the way of it.
  package func passcodeIsSet() throws(VaultError) -> Bool {
    let store = store
    return try store.read { db, authority in try store.slot(.passcode, db, authority) != nil }
  }

  /// The set a new item is bound to: the only one with fingers, or else that of the reader attached now.
  func setForBinding() async throws(VaultError) -> StoredSet {
    let sets = try enrolledSets()
    if sets.count == 1, let only = sets.first, !only.set.reader.isFprintd { return only }
    let wanted = try await attachedReaderOrNone(sets)
    if wanted?.identity.isFprintd == true, let set = try await fprintdSet() {
      try requireDigests(of: set)
      return set
    }
    guard let set = sets.first(where: { $0.set.reader == wanted?.identity && $0.set.nature == wanted?.nature }) else {
      throw .notEnrolled
    }
    return set
  }

  /// The reader attached. That there is none says no more than that no finger is enrolled, where none is.
  private func attachedReaderOrNone(_ sets: [StoredSet]) async throws(VaultError) -> ReaderDescription? {
    do throws(VaultError) {
      return try await attachedReader()
    } catch {
      if sets.isEmpty { throw .notEnrolled }
      throw error
    }
  }

  private func anyEnrolledSet() async throws(VaultError) -> StoredSet {
    if let set = try enrolledSets().first { return set }
    do throws(VaultError) {
      guard let set = try await fprintdSet() else { throw .notEnrolled }
      return set
    } catch {
      if case .reader(.absent) = error { throw .notEnrolled }
      if case .reader(.cannotStart) = error { throw .notEnrolled }
      throw error
    }
  }

  /// The sets that have fingers which may be used.
  func enrolledSets() throws(VaultError) -> [StoredSet] {
    let store = store
    return try store.read { db, authority in
      try store.sets(db, authority).filter { !$0.set.enrolments.isEmpty && $0.set.counts }
    }
  }

  /// Empties the log a moment later, once for many changes: the caller waits for its own change alone.
  func forgetSoon() {
    guard forgetting == nil else { return }
    forgetting = Task(executorPreference: BackgroundThread.shared) {
      try? await Task.sleep(for: .seconds(1))
      await self.forget()
    }
  }

  private func forget() {
    forgetting = nil
    store.database.forgetOldPages()
  }
}

extension Store {
  /// The set as it is now; refuses where it has changed since it was looked at.
  func current(_ set: StoredSet, _ db: Database, _ authority: Authority) throws -> StoredSet {
    guard let now = try self.set(of: set.set.reader, set.set.nature, db, authority), now.digest == set.digest else {
      throw VaultError.setChanged
    }
    return now
  }
}

func secondsSince1970() -> Double {
  Double(SystemClock.calendar.nanoseconds) / 1e9
}
