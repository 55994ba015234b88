import Presence
import Primitives
import SecretModel
import VaultStore
import VaultSync

/// Writes a record for each change of a synchronizable item by this machine's programs, in the change's transaction.
/// Does nothing in a store that is in no circle.
final class SyncJournal {
  private let change: StoreTransaction
  private var known: Circle??
  private var progress: SyncProgress?

  init(_ change: StoreTransaction) { self.change = change }

  /// The circle, if this machine is a member.
  private func circle() throws -> Circle? {
    if let known { return known }
    let circle = try change.circle()
    let member = try circle?.standing == .member ? circle : nil
    known = .some(member)
    return member
  }

  /// Records that an item was stored or changed.
  ///
  /// - Throws: `invalidRequest` for a synchronizable item with an application password, which only its owner knows.
  func stored(_ record: ItemRecord, _ id: [UInt8], _ protection: ItemProtection, secret: borrowing SecretBytes) throws {
    guard record.isSynchronizable else { return try removed(id) }
    guard let circle = try circle(), let names = circle.recordNames else { return }
    guard !protection.access.applicationPassword else {
      throw VaultError.invalidRequest("an item with a password of its own cannot be shared with other machines")
    }
    let name = names.name(of: record.primary)
    if let old = try change.record(ofItem: id), old.name != name { try delete(old, circle) }
    let old = try change.record(name)
    let item = NewItem(
      record.itemClass, record.attributes, access: protection.access, accessibility: protection.accessibility)
    let revision = try revision(
      replacing: old?.head.seen ?? [:], of: item, HiddenSecret(secret), created: record.created, circle)
    try write(revision, as: .stored, record.name, item: id, over: old, name, circle)
  }

  /// Records that an item was removed, or is no longer synchronizable.
  func removed(_ id: [UInt8]) throws {
    // The table is empty without a circle.
    guard let old = try change.record(ofItem: id), let circle = try circle() else { return }
    try delete(old, circle)
  }

  /// Deletes a record on all machines.
  func delete(_ old: RecordRow) throws {
    if let circle = try circle() { try delete(old, circle) }
  }

  private func delete(_ old: RecordRow, _ circle: Circle) throws {
    let seen = try next(after: old.head.seen, circle)
    let head = Revision.Head(
      clock: seen.clock, created: 0, modified: secondsSince1970(), name: old.name, seen: seen.seen)
    let revision = try Revision(head, secretFile: [], of: circle.circle, by: circle.keys, as: circle.id)
    try write(revision, as: .deleted, old.head.title, item: nil, over: old, old.name, circle)
  }

  /// The next clock of this machine, and the version vector of a version that replaces those of `seen`.
  private func next(after seen: VersionVector, _ circle: Circle) throws -> (clock: LogicalClock, seen: VersionVector) {
    var progress = try self.progress ?? change.syncProgress()
    progress.clock = try max(progress.clock, seen.values.max() ?? .start).next(in: circle.published)
    try change.put(progress)
    self.progress = progress
    return (progress.clock, seen.merging([circle.id.description: progress.clock]) { $1 })
  }

  /// A new version of an item, with its secret encrypted to the members.
  private func revision(
    replacing seen: VersionVector, of item: NewItem, _ hidden: HiddenSecret, created: Double,
    _ circle: Circle
  ) throws -> Revision {
    let next = try next(after: seen, circle)
    let head = Revision.Head(
      clock: next.clock, created: created, item: DescribedItem(item, secret: hidden.secret.bytes.count),
      commitment: hidden.commitment, modified: secondsSince1970(), seen: next.seen)
    let file = try hidden.file(under: SecretLock(item), for: circle.members, epoch: circle.epoch)
    return try Revision(head, secretFile: file, of: circle.circle, by: circle.keys, as: circle.id)
  }

  private func write(
    _ revision: Revision, as state: RecordRow.State, _ title: ItemName, item: [UInt8]?, over old: RecordRow?,
    _ name: [UInt8], _ circle: Circle
  ) throws {
    var row = RecordRow(
      name: name, head: RecordRow.Head(revision, state, title),
      file: try revision.sealed(to: circle.members.recipients, epoch: circle.epoch), epoch: circle.epoch)
    row.item = item
    row.published = old?.published
    try row.write(change)
  }
}

extension SyncJournal {
  /// Makes another version of an item the current one for all machines.
  ///
  /// - Parameter kept: the record of the version that this one also replaces.
  func adopt(
    _ revision: Revision, _ hidden: HiddenSecret, _ record: ItemRecord, _ id: [UInt8]?, resolving kept: RecordRow
  ) throws {
    guard let circle = try circle(), let item = try revision.head.item?.item, let names = circle.recordNames else {
      return
    }
    let name = names.name(of: record.primary)
    let old = try change.record(name)
    let seen = (old?.head.seen ?? [:]).merging(kept.head.seen) { max($0, $1) }
    let new = try self.revision(replacing: seen, of: item, hidden, created: revision.head.created, circle)
    try write(new, as: id == nil ? .waiting : .stored, record.name, item: id, over: old, name, circle)
    try delete(kept, circle)
  }

  /// A new version, signed by this machine, with the contents of another one. Its secret stays encrypted as it is.
  ///
  /// - Parameter epoch: the number of the list of members that the secret is encrypted to.
  func signed(
    _ old: Revision, _ name: [UInt8], _ title: ItemName, replacing seen: VersionVector, epoch: Int
  ) throws -> RecordRow {
    guard let circle = try circle() else { throw VaultError.invalidRequest("this store shares with no other computer") }
    let next = try next(after: seen, circle)
    var head = old.head
    (head.clock, head.seen, head.modified) = (next.clock, next.seen, secondsSince1970().rounded(.down))
    if head.item == nil { head.name = JSONBytes(name) }
    let new = try Revision(head, secretFile: old.secretFile, of: circle.circle, by: circle.keys, as: circle.id)
    return RecordRow(
      name: name, head: RecordRow.Head(new, old.head.item == nil ? .deleted : .waiting, title),
      file: try new.sealed(to: circle.members.recipients, epoch: epoch), epoch: epoch)
  }

  /// Keeps a version that lost in another circle, or that a removed member wrote, signed by this machine.
  func keep(_ old: Revision, _ title: ItemName, epoch: Int) throws {
    guard let circle = try circle(), let names = circle.recordNames, old.head.item != nil else { return }
    var row = try signed(old, [], title, replacing: [:], epoch: epoch)
    row.name = names.name(ofKept: row.head.version.bytes)
    row.head.state = .kept
    try row.write(change)
  }

  /// Keeps a version beside the current one.
  func keep(_ item: NewItem, _ secret: SharedSecret, _ created: Double, _ title: ItemName) throws {
    guard let circle = try circle(), let names = circle.recordNames else { return }
    let new = try revision(
      replacing: [:], of: item, HiddenSecret(secret.bytes), created: created, circle)
    try RecordRow(
      name: names.name(ofKept: new.signed.digest), head: RecordRow.Head(new, .kept, title),
      file: try new.sealed(to: circle.members.recipients, epoch: circle.epoch), epoch: circle.epoch
    ).write(change)
  }

  /// Whether this machine can sign another version: false where the numbers of the newest list in the repository are used
  /// up.
  func hasNumbers() throws -> Bool {
    guard let circle = try circle() else { return false }
    return (try? (progress ?? change.syncProgress()).clock.next(in: circle.published)) != nil
  }

  /// Signs the version of a machine that is no longer a member, so that the others still accept it.
  func sign(_ row: RecordRow) throws -> RecordRow {
    guard let circle = try circle() else { return row }
    var new = try signed(
      row.revision(for: circle), row.name, row.head.title, replacing: row.head.seen, epoch: row.epoch)
    (new.item, new.published) = (row.item, row.published)
    (new.head.state, new.head.reason) = (row.head.state, row.head.reason)
    return new
  }
}

extension ItemRecord {
  var isSynchronizable: Bool { attributes[.synchronizable].map { !$0.isEmpty } ?? false }
}
