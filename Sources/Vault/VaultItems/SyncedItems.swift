import Executors
import Keys
package import Presence
package import SecretModel
package import SecureMemory
package import VaultStore
package import VaultSync

/// The circle of a store, and the records of its items. Shows no prompts: what it returns is encrypted to the members.
package struct SyncedItems {
  private let store: Store

  /// The maximum number of records in one page.
  private static let pageCount = 500

  package init(_ store: Store) { self.store = store }

  // MARK: Status

  package func status() throws(VaultError) -> SyncStatus {
    try store.read { snapshot in
      guard let circle = try snapshot.circle() else { return SyncStatus() }
      let progress = try snapshot.syncProgress()
      let loose = try snapshot.records(where: "item IS NULL")
      let waiting = loose.filter { $0.head.state == .waiting }
      let standing = try circle.standing
      return SyncStatus(
        standing: standing, circle: circle.circle,
        members: try circle.members.map { member in
          let id = try member.id
          return SyncMember(id: id, name: circle.name(of: id), isThisMachine: id == circle.id)
        },
        candidates: progress.candidates.compactMap { candidate in
          MemberID(candidate.id).map {
            SyncMember(id: $0, name: candidate.name, isThisMachine: false, words: candidate.words)
          }
        },
        words: try circle.request.map { try JoinRequest($0, circle: circle.circle).words() } ?? [],
        items: try snapshot.recordCount(where: "item IS NOT NULL") + waiting.count,
        pending: try snapshot.recordCount(where: "published IS NOT digest")
          + max(0, circle.chain.count - min(circle.published, progress.circleRecords)),
        waiting: waiting.map {
          SyncStatus.Waiting(
            item: $0.head.title, reason: $0.head.reason.flatMap { .init(rawValue: $0) } ?? .refused)
        },
        kept: loose.filter { $0.head.state == .kept }.map { row in
          SyncStatus.Kept(
            id: row.keptID, item: row.head.title,
            writer: MemberID(row.head.writer).map { circle.name(of: $0) } ?? "", written: row.head.modified)
        }, lost: progress.lost)
    }
  }

  // MARK: Members

  /// Begins a circle, or asks to join one.
  package func begin(_ circle: Circle, after proof: (StoreSnapshot) throws -> Void) throws(VaultError) {
    try store.commit { change in
      try proof(change)
      if let old = try change.circle(), try old.standing != .removed {
        throw VaultError.invalidRequest("this store shares with other computers already")
      }
      try change.leaveCircle()
      var progress = SyncProgress()
      progress.circleRecords = circle.published
      progress.obsolete =
        circle.rescue.map { rescue in rescue.chain.dropFirst().map { SyncPath.circle($0.epoch).text } } ?? []
      try change.put(circle)
      try change.put(progress)
      if try circle.standing == .member { try change.shareOpenItems() }
    }
  }

  /// The reason that the prompt shows before a change of the members.
  ///
  /// - Throws: `itemGone` for a machine that is unknown.
  package func reason(for change: SyncMemberChange) throws(VaultError) -> String {
    let status = try status()
    switch change {
    case .approve(let id):
      guard let machine = status.candidates.first(where: { $0.id == id }) else { throw .itemGone }
      return "let the machine “\(machine.name)” read what is shared"
    case .remove(let id):
      guard let machine = status.members.first(where: { $0.id == id }) else { throw .itemGone }
      return "remove “\(machine.name)” from the machines that share secrets"
    case .leave: return "share no secrets with other machines any more"
    }
  }

  package func change(_ what: SyncMemberChange) throws(VaultError) {
    try store.commit { change in
      guard var circle = try change.circle() else {
        throw VaultError.invalidRequest("this store shares with no other computer")
      }
      var progress = try change.syncProgress()
      switch what {
      case .approve(let id):
        guard let candidate = progress.candidates.first(where: { $0.id == id.description }) else {
          throw VaultError.itemGone
        }
        try circle.admit(JoinRequest(candidate.file.bytes, circle: circle.circle))
        progress.candidates.removeAll { $0.id == id.description }
        progress.obsolete.append(SyncPath.request(id).text)
      case .remove(let id):
        guard id != circle.id else {
          throw VaultError.invalidRequest("to remove this computer itself, use 'whorl sync leave --circle'")
        }
        try circle.remove(id)
        progress.heads[id.description] = nil
        progress.obsolete.append(SyncPath.head(id).text)
      case .leave:
        guard try circle.standing == .member, circle.members.count > 1 else { return try change.leaveCircle() }
        try circle.remove(circle.id)
        try change.forgetRecords()
        progress = SyncProgress()
        progress.circleRecords = circle.published
      }
      try change.put(circle)
      try change.put(progress)
    }
  }

  /// Encrypts the files that are published from now on to a new recovery key.
  package func use(recoveryKey text: SharedSecret) throws(VaultError) {
    let id = store.keys.databaseID
    let pair = try EncryptedFile.KeyPair(recovery: RecoveryKey.slotKey(of: text.bytes), salt: id)
    try store.commit { change in
      guard var circle = try change.circle() else { return }
      try circle.use(recovery: pair.publicKey, salt: id)
      try change.put(circle)
    }
  }

  // MARK: Decisions

  /// Drops a version that lost a conflict.
  package func drop(kept id: String) throws(VaultError) {
    try store.commit(items: true) { change in try SyncJournal(change).delete(change.kept(id)) }
    store.database.forgetOldPages()
  }

  /// The access control to satisfy before a version that lost becomes the current one.
  package func access(ofKept id: String) throws(VaultError) -> AccessControl {
    try store.read { snapshot in try snapshot.arrived(snapshot.kept(id)).item.access }
  }

  /// Makes a version that lost a conflict the current one.
  package func use(kept id: String, _ evidence: consuming Evidence) throws(VaultError) {
    let shown = try evidence.current()
    try store.commit(items: true) { change in
      let kept = try change.kept(id)
      let arrived = try change.arrived(kept)
      try change.require(shown, for: arrived.item.access)
      let current = try change.item(like: arrived.record)
      let earlier = try current.flatMap { try change.record(ofItem: $0.id) == nil ? nil : $0.id }
      let outcome = try SyncedItem(arrived.item, arrived.record, arrived.revision.secret).store(
        ItemWriter(change, journal: nil), over: earlier, boundTo: change.touchedSet(shown))
      let stored: [UInt8]? = if case .stored(let id) = outcome { id } else { nil }
      try SyncJournal(change).adopt(arrived.revision, arrived.record, stored, resolving: kept)
    }
    evidence.succeed()
    store.database.forgetOldPages()
  }

  /// The access controls to satisfy before a waiting item is stored: its own, and that of an item in its place that was
  /// never shared.
  package func access(ofWaiting name: ItemName) throws(VaultError) -> [AccessControl] {
    try store.read { snapshot in
      let arrived = try snapshot.arrived(snapshot.waiting(name))
      return [arrived.item.access] + (try snapshot.item(like: arrived.record)?.accessControl.map { [$0] } ?? [])
    }
  }

  /// Stores a waiting item. An item in its place that was never shared is kept as a version that lost a conflict.
  package func bind(_ name: ItemName, _ evidence: consuming Evidence) throws(VaultError) {
    let shown = try evidence.current()
    try store.commit(items: true) { change in
      var row = try change.waiting(name)
      let arrived = try change.arrived(row)
      try change.require(shown, for: arrived.item.access)
      var earlier = row.item
      if let there = try change.item(like: arrived.record), !there.dead, there.id != row.item {
        let wanted = try change.wanted(.ids([ItemID(bytes: there.id)]), Shown())
        let released = try change.release(wanted, shown)[0]
        let item = NewItem(
          arrived.record.itemClass, wanted[0].record.attributes, access: wanted[0].access,
          accessibility: wanted[0].accessibility)
        try SyncJournal(change).keep(
          item, SharedSecret(released.secret.copy()), wanted[0].record.created, name)
        earlier = there.id
      }
      let outcome = try SyncedItem(arrived.item, arrived.record, arrived.revision.secret).store(
        ItemWriter(change, journal: nil), over: earlier, boundTo: change.touchedSet(shown))
      guard case .stored(let id) = outcome else { throw VaultError.setChanged }
      row.head.state = .stored
      row.head.reason = nil
      row.item = id
      try row.write(change)
    }
    evidence.succeed()
    store.database.forgetOldPages()
  }

  // MARK: Files

  /// Waits until the number of records that are unpublished or need a person differs from `known`, and returns it.
  package func change(from known: Int) async throws(VaultError) -> Int {
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      let changes = store.recordChanges.value
      let status = try status()
      let count = status.pending + status.kept.count + status.candidates.count
      guard count == known else { return count }
      await store.recordChanges.reaches(changes + 1)
    }
  }

  package func receive(_ files: [SyncFile], isLast: Bool) throws(VaultError) -> SyncReceipt {
    try Self.check(files)
    let receipt = try store.commit(items: true) { change in
      guard let circle = try change.circle() else {
        throw VaultError.invalidRequest("this store shares with no other computer")
      }
      let receiver = try SyncReceiver(change, circle)
      for file in files { try receiver.receive(file) }
      return try receiver.finish(isLast: isLast)
    }
    if !receipt.removed.isEmpty || !receipt.changed.isEmpty { store.database.forgetOldPages() }
    return receipt
  }

  private static func check(_ files: [SyncFile]) throws(VaultError) {
    let size = files.reduce(0) { $0 + ($1.contents?.count ?? 0) }
    guard size <= SyncFile.pageLimit, files.allSatisfy({ ($0.contents?.count ?? 0) <= SyncFile.sizeLimit }) else {
      throw .invalidRequest("the files of a call are too long")
    }
  }

  package func files(after: String?, puttingBack: Bool) throws(VaultError) -> SyncBatch {
    try store.commit(items: true) { change in
      guard let circle = try change.circle() else {
        throw VaultError.invalidRequest("this store shares with no other computer")
      }
      return try SyncPublisher(change, circle).page(after: after, limit: Self.pageCount, puttingBack: puttingBack)
    }
  }
}

extension RecordRow {
  /// The beginning of its name, as users see it.
  package var keptID: String {
    String(SyncPath.item(name).text.dropFirst("items/".count).filter { $0 != "/" }.prefix(16))
  }
}

/// A version of an item, from its record.
struct ArrivedItem {
  let revision: Revision
  let item: NewItem
  let record: ItemRecord
}

extension StoreSnapshot {
  /// - Throws: `itemGone`.
  func kept(_ id: String) throws -> RecordRow {
    let row = try records(where: "item IS NULL").first { $0.head.state == .kept && $0.keptID == id }
    guard let row else { throw VaultError.itemGone }
    return row
  }

  /// - Throws: `itemGone`.
  func waiting(_ name: ItemName) throws -> RecordRow {
    let row = try records(where: "1").first { $0.head.state == .waiting && $0.head.title == name }
    guard let row else { throw VaultError.itemGone }
    return row
  }

  func arrived(_ row: RecordRow) throws -> ArrivedItem {
    guard let circle = try circle() else { throw VaultError.itemGone }
    let revision = try row.revision(for: circle)
    guard let item = try revision.head.item?.item else { throw VaultError.itemGone }
    return ArrivedItem(revision: revision, item: item, record: ItemRecord(item, revision.head))
  }

  /// Throws if the proofs do not satisfy an access control.
  func require(_ shown: ShownFactors, for access: AccessControl) throws {
    try requireCurrent(shown)
    guard shown.satisfies(access) else { throw VaultError.touchRefused }
  }
}

extension StoreTransaction {
  /// Stores the circle's items again from their records, after all items were replaced.
  package func storeRecordsAgain() throws {
    guard let circle = try circle(), let names = circle.recordNames else { return }
    let writer = ItemWriter(self, journal: nil)
    // Items that a machine has since deleted or stored anew.
    var outdated: [ItemID] = []
    try ItemSearcher(self).each(ItemSearch(groups: .all, synchronizable: .yes), Shown()) { found in
      if let record = found.record, let row = try self.record(names.name(of: record.primary)), row.item != found.row.id
      {
        outdated.append(ItemID(bytes: found.row.id))
      }
      return true
    }
    if !outdated.isEmpty { _ = try writer.delete(.ids(outdated)) }
    for var row in try records(where: "item IS NOT NULL") {
      let revision = try row.revision(for: circle)
      guard let item = try revision.head.item?.item, let id = row.item else { continue }
      let outcome = try SyncedItem(item, ItemRecord(item, revision.head), revision.secret).store(writer, over: id)
      switch outcome {
      case .stored(let id): row.item = id
      case .waiting(let reason):
        row.item = nil
        row.head.state = .waiting
        row.head.reason = reason.rawValue
      }
      try row.write(self)
    }
  }

  /// Writes records of the synchronizable items that require nothing.
  func shareOpenItems() throws {
    var open: [WantedItem] = []
    try ItemSearcher(self).each(ItemSearch(groups: .all, synchronizable: .yes), Shown()) { found in
      if let item = try? wanted(found.row, found.record), item.isOpen, try closed(item.accessibility) == nil {
        open.append(item)
      }
      return true
    }
    let journal = SyncJournal(self)
    for (item, released) in zip(open, try release(open, ShownFactors(), wereJustRead: true)) {
      try journal.stored(
        item.record, item.row.id, ItemProtection(access: item.access, accessibility: item.accessibility),
        secret: released.secret)
    }
  }
}
