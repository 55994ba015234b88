import Executors
import Fingerprint
import Glibc
import Keys
import Primitives
import SecureMemory

extension Vault {
  /// What a search means, a page at a time.
  func items(_ search: ItemSearch, _ request: Request) throws(VaultError) -> ItemPage {
    let context = try context(of: request)
    return try store.read { moment in try moment.page(search, moment.shown(in: context)) }
  }

  /// Releases secrets: one touch, or one passcode, for all of them, or nothing. Without a context only what asks for
  /// nothing.
  func secrets(_ selection: ItemSelection, _ request: Request) async throws(VaultError) -> [ReleasedItem] {
    let context = try context(of: request)
    await followSessions()
    // What asks for nothing is released in the look that finds it.
    let (wanted, open): ([WantedItem], [ReleasedItem]?) = try store.read { moment in
      let wanted = try moment.wanted(selection, moment.shown(in: context))
      for item in wanted { try item.requireReleasable() }
      if wanted.allSatisfy(\.isOpen) { return (wanted, try moment.release(wanted, Evidence())) }
      for item in wanted { try moment.requireOpen(item) }
      return (wanted, nil)
    }
    if let open { return open }
    return try await authorized(wanted, request) { wanted, evidence throws(VaultError) in
      try self.store.read { moment in try moment.release(wanted, evidence) }
    }
  }

  /// Stores an item. Asks for the application password where the item is to have one and the context holds none, and for
  /// nothing else.
  func add(_ item: NewItem, secret: consuming SecretBytes, replacing: Bool, _ request: Request)
    async throws(VaultError) -> Item
  {
    guard secret.count <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let secret = SecretBox(secret)
    let record = ItemRecord(
      itemClass: item.itemClass, attributes: item.attributes, created: secondsSince1970(), modified: 0)
    try record.check()
    await followSessions()
    var protection = ItemProtection(access: item.access, accessibility: item.accessibility)
    let requirement = protection.requirement
    let needsPasscode = item.accessibility == .passcodeSet || requirement.mentions(.passcode)
    if needsPasscode { guard try passcodeIsSet() else { throw .passcodeNotSet } }
    if item.access.applicationPassword {
      let password = try await applicationPassword(for: record.name, request)
      protection.password = try await stretchNew(password)
    }
    if requirement.mentions(.boundFinger) { protection.bound = try await setForBinding() }
    if requirement.mentions(.finger), protection.bound == nil, !requirement.mentions(.passcodeGate) {
      _ = try await anyEnrolledSet()
    }
    let stored = protection
    let added = try store.commit(items: true) { change in
      try change.insert(record, stored, secret: secret.secret, replacing: replacing)
    }
    // A secret that was replaced is not to stay readable in the log, under a key that stays there as well.
    if replacing { store.database.forgetOldPages() }
    return added
  }

  /// The application password of a new item: the context's, else what the person answers.
  private func applicationPassword(for name: ItemName, _ request: Request) async throws(VaultError) -> SecretBox {
    if let password = try context(of: request)?.applicationPassword { return password }
    return try await asking(request) { context throws(VaultError) in
      guard let password = try await self.ask(.applicationPassword(name), context) else {
        throw .interactionNotAllowed
      }
      guard !password.secret.isEmpty else { throw .invalidPasscode("the application password is empty") }
      return password
    }
  }

  /// Changes items, all of them or none, and gives their number. A protected one asks for what reading it asks for.
  func update(
    _ selection: ItemSelection, _ change: ItemChange, secret: consuming SecretBytes?, _ request: Request
  ) async throws(VaultError) -> Int {
    guard (secret?.count ?? 0) <= Self.secretLimit else { throw .secretTooLong(limit: Self.secretLimit) }
    let fresh: SecretBox? = if let secret { SecretBox(secret) } else { nil }
    let context = try context(of: request)
    await followSessions()
    let wanted = try store.read { moment in
      var seen: Set<[UInt8]> = []
      let wanted = try moment.wanted(selection, moment.shown(in: context)).filter { seen.insert($0.row.id).inserted }
      for item in wanted { try moment.requireOpen(item) }
      return wanted
    }
    guard !wanted.isEmpty else { return 0 }
    let protection = try await protection(after: change, context)
    try await authorized(wanted, request) { wanted, evidence throws(VaultError) in
      try self.store.commit(items: true) { transaction in
        for (item, released) in zip(wanted, try transaction.release(wanted, evidence)) {
          if let fresh {
            try transaction.rewrite(item, change, secret: fresh.secret, protection)
          } else {
            try transaction.rewrite(item, change, secret: released.secret, protection)
          }
        }
      }
    }
    store.database.forgetOldPages()
    return wanted.count
  }

  /// What items are to be stored with from now on; nil where their access control stays.
  private func protection(after change: ItemChange, _ context: Context?) async throws(VaultError) -> ItemProtection? {
    guard let access = change.access else { return nil }
    // Each item keeps its own accessibility where the change names none.
    var protection = ItemProtection(access: access, accessibility: change.accessibility ?? .whenUnlocked)
    if access.applicationPassword {
      guard let given = context?.applicationPassword else { throw .interactionNotAllowed }
      protection.password = try await stretchNew(given)
    }
    if protection.requirement.mentions(.boundFinger) { protection.bound = try await setForBinding() }
    return protection
  }

  /// Removes items, all of them or none, and gives their number. Needs no finger.
  ///
  /// - Throws: `itemGone` where a name or a search means none; ids that are gone do not count. `invalidRequest` for a
  ///   search that names neither a class nor items nor an attribute: it would empty the store.
  package func delete(_ selection: ItemSelection) throws(VaultError) -> Int {
    switch selection {
    case .ids(let ids): if ids.isEmpty { return 0 }
    case .names(let names): if names.isEmpty { return 0 }
    case .search(let search):
      guard search.namesSomething else { throw .invalidRequest("say what to delete: a class, items or an attribute") }
    }
    let count = try store.commit(items: true) { change in try change.delete(selection) }
    forgetSoon()
    return count
  }

  /// Whether there is a passcode. Looks at its slot alone, so that damage elsewhere does not stand in the way of it.
  package func passcodeIsSet() throws(VaultError) -> Bool {
    let store = store
    return try store.read { moment in try moment.slot(.passcode) != nil }
  }

  /// The set a new item is bound to: the only one with fingers, or else that of the reader attached now.
  func setForBinding() async throws(VaultError) -> StoredSet {
    let enrolled = try sets.enrolled()
    if enrolled.count == 1, let only = enrolled.first, only.set.reader.adapter == .libfprint { return only }
    let wanted = try await attachedReaderOrNone(enrolled)
    if wanted?.printKeeper == .service, let set = try await fprintd.look() {
      try fprintd.requireDigests(of: set)
      return set
    }
    guard let wanted, let set = enrolled.first(where: { $0.set.isOn(wanted) }) else { throw .notEnrolled }
    return set
  }

  /// The reader attached. That there is none says no more than that no finger is enrolled, where none is.
  private func attachedReaderOrNone(_ sets: [StoredSet]) async throws(VaultError) -> ReaderDescription? {
    do throws(VaultError) {
      return try await readers.attached()
    } catch {
      if sets.isEmpty { throw .notEnrolled }
      throw error
    }
  }

  private func anyEnrolledSet() async throws(VaultError) -> StoredSet {
    if let set = try sets.enrolled().first { return set }
    do throws(VaultError) {
      guard let set = try await fprintd.look() else { throw .notEnrolled }
      return set
    } catch {
      if case .reader(.absent) = error { throw .notEnrolled }
      if case .reader(.cannotStart) = error { throw .notEnrolled }
      throw error
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

func secondsSince1970() -> Double {
  Double(SystemClock.calendar.nanoseconds) / 1e9
}
