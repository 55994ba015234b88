import Presence
import Primitives
import SecretModel
import VaultStore
import VaultSync

/// Receives files of a repository in one transaction: verifies each, and stores the newer version of each item.
///
/// The repository is not trusted: only files that a member has signed are accepted, and they replace nothing that is
/// newer here.
final class SyncReceiver {
  private let change: StoreTransaction
  private var circle: Circle
  private var progress: SyncProgress
  private(set) var receipt = SyncReceipt()
  /// Without a journal, since the records of these changes came from the repository.
  private let writer: ItemWriter
  private let nonces: JoinNonces
  private var authors: Authors
  private var place: Int
  private lazy var keys = Result { try SecretKeys(of: change) }
  /// Versions whose clock is far ahead. What else arrives may close the gap.
  private var early: [Arrival] = []

  /// How long a record of a deletion is kept, in seconds.
  static let deletionAge: Double = 180 * 86_400

  init(_ change: StoreTransaction, _ circle: Circle, _ nonces: JoinNonces) throws {
    self.change = change
    self.circle = circle
    self.nonces = nonces
    writer = ItemWriter(change, journal: nil)
    progress = try change.syncProgress()
    (authors, place) = (
      try (circle.rescue?.chain.last?.members).map { try Authors($0) } ?? circle.authors, try circle.place
    )
  }

  func receive(_ file: SyncFile) throws {
    guard let path = SyncPath(file.path) else {
      guard file.contents != nil else { return }
      return receipt.refused.append(SyncReceipt.Refusal(path: file.path, reason: "is not the name of a shared file"))
    }
    if file.contents == nil { progress.obsolete.removeAll { $0 == file.path } }
    do {
      switch path {
      case .format: try receiveFormat(file.contents)
      case .circle(let epoch): try receiveCircle(file.contents, epoch)
      case .request(let id), .answer(let id), .opening(let id), .consent(let id):
        try receiveMessage(path, file.contents, of: id)
      case .head(let id): try receiveHead(file.contents, id)
      case .item(let name): try receiveItem(file.contents, name)
      }
    } catch VaultError.fileUnreadable(let why) {
      receipt.refused.append(SyncReceipt.Refusal(path: file.path, reason: why))
    }
  }

  /// Stores what was received.
  func finish(isLast: Bool) throws -> SyncReceipt {
    for arrival in early.sorted(by: { $0.revision.head.clock < $1.revision.head.clock }) { try receiveEarly(arrival) }
    if isLast, try circle.standing == .member {
      try storeWaiting()
      if circle.rescue != nil {
        circle.endRescue()
        try change.put(circle)
      } else if !progress.heads.isEmpty {
        let records = JSONBytes(try change.publishedDigest())
        let heads = progress.heads.values
        receipt.isMixed = !heads.contains { $0.records == records } || heads.contains { $0.knowsMore(than: circle) }
      }
      if progress.lost > 0, !receipt.wentBack, try isWhole() { progress.lost = 0 }
    }
    try change.put(progress)
    return receipt
  }

  /// Whether the repository has again all that this machine has seen there, for instance because another machine has
  /// published it.
  private func isWhole() throws -> Bool {
    try change.recordCount(where: "published IS NOT digest") == 0 && progress.circleRecords == circle.published
      && progress.hasFormat
  }

  // MARK: The circle

  private func receiveFormat(_ contents: [UInt8]?) throws {
    progress.hasFormat = contents == SyncPath.formatLine
    guard contents == nil || progress.hasFormat else {
      throw VaultError.fileUnreadable(
        contents == SyncPath.earlierFormatLine
          ? CircleRecord.earlier : "the repository is of a later version of whorl, or of another program")
    }
  }

  private func receiveCircle(_ contents: [UInt8]?, _ epoch: Int) throws {
    // Ignore the records of the lost circle, which this one replaces.
    if let rescue = circle.rescue, epoch <= rescue.chain.count, contents == rescue.chain[epoch - 1].bytes { return }
    guard let contents else {
      if epoch <= progress.circleRecords { wentBack() }
      progress.circleRecords = min(progress.circleRecords, epoch - 1)
      return
    }
    let before = try circle.standing
    let taken: Circle.Taken
    do throws(VaultError) {
      taken = try circle.take(contents, at: epoch)
    } catch {
      // It belongs to another circle, whose first records have replaced ours. Remove it when ours are published again.
      if progress.circleRecords < circle.published { giveUp(.circle(epoch)) }
      throw error
    }
    switch taken {
    case .known: progress.circleRecords = max(progress.circleRecords, epoch)
    case .new:
      progress.circleRecords = max(progress.circleRecords, epoch)
      try change.encryptAgain(from: epoch)
      try follow(from: before)
    case .other:
      wentBack()
      progress.circleRecords = min(progress.circleRecords, epoch - 1)
      // It may be a second list after the same one.
      try change.put(circle)
      throw VaultError.fileUnreadable("its list of machines is not the one that this machine has seen")
    }
    try change.put(circle)
  }

  /// Marks a file for removal from the repository.
  private func giveUp(_ path: SyncPath) {
    if !progress.obsolete.contains(path.text) { progress.obsolete.append(path.text) }
  }

  /// Adjusts the state to changed members.
  private func follow(from before: SyncStatus.Standing) throws {
    (authors, place) = (try circle.authors, try circle.place)
    switch (before, try circle.standing) {
    case (.asking, .member): try shareItems()
    case (.member, .removed):
      try change.forgetRecords()
      progress = SyncProgress()
      progress.circleRecords = circle.published
    default: break
    }
    let members = try Set(circle.members.map { try $0.id.description })
    progress.candidates.removeAll { members.contains($0.id) }
    progress.heads = progress.heads.filter { members.contains($0.key) }
  }

  /// Writes records of the synchronizable items that require nothing. The others need a touch of their owner.
  private func shareItems() throws {
    try change.put(circle)
    try change.put(progress)
    try change.shareOpenItems()
    progress = try change.syncProgress()
  }

  /// A message of a machine that asks to join, or of this one.
  private func receiveMessage(_ path: SyncPath, _ contents: [UInt8]?, of id: MemberID) throws {
    guard id == circle.id else { return try progress.take(path, contents, of: id, in: circle) }
    guard case .answer = path else { return progress.note(path, isThere: contents != nil) }
    guard let contents else { return }
    try circle.take(answer: contents, nonces.take(of: id))
    try change.put(circle)
  }

  private func receiveHead(_ contents: [UInt8]?, _ id: MemberID) throws {
    guard authors.contains(id) else { return }
    let known = progress.heads[id.description]?.sequence ?? 0
    guard let contents else {
      if known > 0 { wentBack() }
      return
    }
    let head = try MemberHead(contents, circle: circle.circle, by: authors)
    guard head.signer == id else { throw VaultError.fileUnreadable("another machine has signed it") }
    if head.sequence < known { wentBack() }
    progress.heads[id.description] = SyncProgress.Head(
      sequence: max(head.sequence, known), records: JSONBytes(head.records), list: JSONBytes(head.list))
    if id == circle.id { progress.sequence = max(progress.sequence, head.sequence) }
  }

  /// Notes that the repository was rolled back.
  private func wentBack(by records: Int = 1) {
    receipt.wentBack = true
    progress.lost += records
  }

  // MARK: Items

  private func receiveItem(_ contents: [UInt8]?, _ name: [UInt8]) throws {
    guard let names = circle.recordNames else { return }
    guard let contents else { return try missing(name) }
    if let rescue = circle.rescue { return try bring(contents, name, from: rescue) }
    let row = try change.record(name)
    if let row, row.has(contents) { return try row.notePublished(contents, change) }
    let arrival: Arrival
    do {
      arrival = try Arrival(contents, name, names, circle, at: place, from: authors)
    } catch {
      // Ours will be published again in its place.
      if let row { try row.notePublished(contents, change) }
      throw error
    }
    guard arrival.revision.head.clock.isReachable(from: greatest) else { return early.append(arrival) }
    try accept(arrival, row)
  }

  /// What the clock of a version is compared with: whatever it says, one of an earlier list of members comes before.
  private var greatest: LogicalClock { max(progress.clock, .beginning(of: circle.published)) }

  private func accept(_ arrival: Arrival, _ row: RecordRow?) throws {
    progress.clock = max(progress.clock, arrival.revision.head.clock)
    guard let row else { return try adopt(arrival, over: nil) }
    if arrival.isKept || row.head.state == .kept { return try meetKept(arrival, row) }
    try meet(arrival, row)
  }

  /// Accepts a version if the others have closed the gap to its clock, and refuses it otherwise: if its clock were
  /// taken over here, no number would be left for later changes.
  private func receiveEarly(_ arrival: Arrival) throws {
    let row = try change.record(arrival.name)
    guard !arrival.revision.head.clock.isReachable(from: greatest) else { return try accept(arrival, row) }
    // Ours will be published again in its place.
    if let row { try row.notePublished(arrival.file, change) }
    receipt.refused.append(
      SyncReceipt.Refusal(
        path: SyncPath.item(arrival.name).text,
        reason: "is from “\(circle.name(of: arrival.revision.writer))”, which counts a million changes more than any "
          + "machine has made: do not trust it, and remove it with 'whorl sync remove'"))
  }

  /// Handles a file that is missing from the repository.
  private func missing(_ name: [UInt8]) throws {
    guard var row = try change.record(name), row.published != nil else { return }
    if row.head.state == .deleted, secondsSince1970() - row.head.modified > Self.deletionAge {
      return try change.remove(row)
    }
    wentBack()
    row.published = nil
    try row.write(change)
  }

  private func meetKept(_ arrival: Arrival, _ row: RecordRow) throws {
    // A decision about a kept version is final.
    if row.head.state == .kept, !arrival.isKept { return try adopt(arrival, over: row) }
    if row.head.state == .deleted, row.isPublished { wentBack() }
    try row.notePublished(arrival.file, change)
  }

  private func meet(_ arrival: Arrival, _ row: RecordRow) throws {
    let head = arrival.revision.head
    let isNewer = head.seen.replaces(row.head.seen)
    let isOlder = row.head.seen.replaces(head.seen)
    switch (isNewer, isOlder) {
    case (true, true) where arrival.isVersion(of: row):
      // The same version, encrypted anew. One for earlier members is encrypted again when it is published.
      var row = row
      guard try !arrival.isUnreadable(with: keys.get()) else {
        try row.notePublished(arrival.file, change)
        throw VaultError.fileUnreadable("its secret is not the one that was signed")
      }
      row.put(arrival.file, epoch: arrival.epoch)
      row.published = row.digest
      try row.write(change)
    case (true, false): try adopt(arrival, over: row)
    case (false, true):
      if row.isPublished { wentBack() }
      try row.notePublished(arrival.file, change)
    // Neither version has seen the other, or one machine has signed both with the same clock: it lies, or was restored.
    case _ where (arrival.item != nil) != row.head.isItem: try revive(arrival, row)
    case (true, true), (false, false):
      let old = try row.revision(for: circle)
      let isSame = old.hasSameItem(as: arrival.revision, with: try keys.get())
      if arrival.wins(over: row) {
        if row.head.isItem, !isSame { try keep(old, row.file, row.epoch, row.head.title) }
        try adopt(arrival, over: row)
      } else {
        if head.item != nil, !isSame { try keep(arrival.revision, arrival.file, arrival.epoch, arrival.title) }
        try row.notePublished(arrival.file, change)
      }
    }
  }

  /// An item was changed and deleted at the same time: it stays, in a version that replaces both. Choosing one of the
  /// two would not be enough: on a third machine the deleted version could then replace the deletion.
  private func revive(_ arrival: Arrival, _ row: RecordRow) throws {
    let isHere = row.head.isItem
    let revision = isHere ? try row.revision(for: circle) : arrival.revision
    let title = isHere ? row.head.title : arrival.title
    let seen = row.head.seen.merging(arrival.revision.head.seen) { max($0, $1) }
    let epoch = isHere ? row.epoch : arrival.epoch
    var new = try journaled { try $0.signed(revision, row.name, title, replacing: seen, epoch: epoch) }
    new.published = RecordRow.digest(of: arrival.file)
    if isHere {
      (new.item, new.head.state, new.head.reason) = (row.item, row.head.state, row.head.reason)
    } else if let record = arrival.record, let item = arrival.item {
      try store(item, record, revision, into: &new)
    }
    try new.write(change)
  }

  /// Runs a closure that writes versions of this machine, which needs the current progress.
  private func journaled<Result>(_ write: (SyncJournal) throws -> Result) throws -> Result {
    try change.put(progress)
    let result = try write(SyncJournal(change))
    progress.clock = try change.syncProgress().clock
    return result
  }

  /// Keeps a version that lost a conflict.
  private func keep(_ revision: Revision, _ file: [UInt8], _ epoch: Int, _ title: ItemName) throws {
    guard let name = circle.recordNames?.name(ofKept: revision.signed.digest), try change.record(name) == nil else {
      return
    }
    try RecordRow(name: name, head: RecordRow.Head(revision, .kept, title), file: file, epoch: epoch).write(change)
    receipt.kept.append(title)
  }

  /// Makes the received version the current one here.
  private func adopt(_ arrival: Arrival, over old: RecordRow?) throws {
    var row = RecordRow(
      name: arrival.name, head: RecordRow.Head(arrival.revision, .kept, arrival.title), file: arrival.file,
      epoch: arrival.epoch)
    row.published = row.digest
    if arrival.isKept {
      receipt.kept.append(arrival.title)
    } else if let record = arrival.record, let item = arrival.item {
      row.item = old?.item
      try store(item, record, arrival.revision, into: &row)
    } else {
      row.head.state = .deleted
      if let old, let title = try remove(old) {
        receipt.removed.append(title)
        row.head.service = title.service
        row.head.account = title.account
      }
    }
    try row.write(change)
  }

  private func remove(_ row: RecordRow) throws -> ItemName? {
    guard let id = row.item else { return nil }
    _ = try writer.delete(.ids([ItemID(bytes: id)]))
    return row.head.title
  }

  /// Stores an item, or records why it has to wait.
  private func store(_ item: NewItem, _ record: ItemRecord, _ revision: Revision, into row: inout RecordRow) throws {
    let outcome = try SyncedItem(item, record, revision).store(
      writer, with: circle.rescue.map { SecretKeys(recovery: $0.key) } ?? keys.get(), over: row.item)
    switch outcome {
    case .stored(let id):
      row.head.state = .stored
      row.head.reason = nil
      row.item = id
      receipt.changed.append(record.name)
    case .waiting(let reason):
      row.head.state = .waiting
      row.head.reason = reason.rawValue
    // An older version of it stays until then.
    }
  }

  /// Tries again to store the waiting items.
  private func storeWaiting() throws {
    for var row in try change.records(where: "item IS NULL") where row.head.state == .waiting {
      let reason = row.head.reason.flatMap { SyncStatus.Waiting.Reason(rawValue: $0) }
      guard reason != .touch, reason != .proof else { continue }
      let revision = try row.revision(for: circle)
      guard let item = try revision.head.item?.item else { continue }
      try store(item, ItemRecord(item, revision.head), revision, into: &row)
      try row.write(change)
    }
  }

  // MARK: Recovery

  /// Imports an item of a lost circle, as a version of this machine.
  private func bring(_ file: [UInt8], _ name: [UInt8], from rescue: Circle.Rescue) throws {
    let arrival = try Arrival(file, name, from: rescue, authors)
    guard let record = arrival.record, let item = arrival.item else { return giveUp(.item(name)) }
    let revision: Revision
    do {
      revision = try arrival.revision.encrypted(
        to: circle.members, epoch: circle.epoch, with: SecretKeys(recovery: rescue.key))
    } catch is SecretObstacle {
      throw VaultError.fileUnreadable("its secret does not open with the recovery key")
    }
    if arrival.isKept {
      giveUp(.item(name))
      try journaled { try $0.keep(revision, arrival.title, epoch: circle.epoch) }
      receipt.kept.append(arrival.title)
    } else {
      var row = try journaled {
        try $0.signed(revision, name, arrival.title, replacing: [:], epoch: circle.epoch)
      }
      try store(item, record, arrival.revision, into: &row)
      try row.write(change)
    }
  }
}
