import KeySchemes
import Presence
import SecretModel
import SecureMemory
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
      of: name, replacing: old?.head.seen ?? [:], item: DescribedItem(item, secret: secret.count),
      created: record.created, secret: SharedSecret(secret.copy()), circle)
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
    let revision = try revision(
      of: old.name, replacing: old.head.seen, item: nil, created: 0, secret: SharedSecret(SecretBytes(count: 0)), circle
    )
    try write(revision, as: .deleted, old.head.title, item: nil, over: old, old.name, circle)
  }

  private func revision(
    of name: [UInt8], replacing seen: [String: UInt64], item: DescribedItem?, created: Double, secret: SharedSecret,
    _ circle: Circle
  ) throws -> Revision {
    var progress = try self.progress ?? change.syncProgress()
    progress.clock = max(progress.clock, seen.values.max() ?? 0) + 1
    try change.put(progress)
    self.progress = progress
    var seen = seen
    seen[circle.id.description] = progress.clock
    let head = Revision.Head(
      clock: progress.clock, created: created, item: item, modified: secondsSince1970(), name: item == nil ? name : nil,
      seen: seen)
    return try Revision(head, secret: secret, of: circle.circle, by: circle.keys, as: circle.id)
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
  func adopt(_ revision: Revision, _ record: ItemRecord, _ id: [UInt8]?, resolving kept: RecordRow) throws {
    guard let circle = try circle(), let item = revision.head.item, let names = circle.recordNames else { return }
    let name = names.name(of: record.primary)
    let old = try change.record(name)
    let seen = (old?.head.seen ?? [:]).merging(kept.head.seen) { max($0, $1) }
    let new = try self.revision(
      of: name, replacing: seen, item: item, created: revision.head.created, secret: revision.secret, circle)
    try write(new, as: id == nil ? .waiting : .stored, record.name, item: id, over: old, name, circle)
    try delete(kept, circle)
  }

  /// A new version, signed by this machine, with the contents of another one.
  func signed(_ old: Revision, _ name: [UInt8], _ title: ItemName, replacing seen: [String: UInt64]) throws -> RecordRow
  {
    guard let circle = try circle() else { throw VaultError.invalidRequest("this store shares with no other computer") }
    let new = try revision(
      of: name, replacing: seen, item: old.head.item, created: old.head.created, secret: old.secret, circle)
    return RecordRow(
      name: name, head: RecordRow.Head(new, old.head.item == nil ? .deleted : .waiting, title),
      file: try new.sealed(to: circle.members.recipients, epoch: circle.epoch), epoch: circle.epoch)
  }

  /// Keeps a version that lost in another circle, or that a removed member wrote, signed by this machine.
  func keep(_ old: Revision, _ title: ItemName) throws {
    guard let item = try old.head.item?.item else { return }
    try keep(item, old.secret, old.head.created, title)
  }

  /// Keeps a version beside the current one.
  func keep(_ item: NewItem, _ secret: SharedSecret, _ created: Double, _ title: ItemName) throws {
    guard let circle = try circle(), let names = circle.recordNames else { return }
    let new = try revision(
      of: [], replacing: [:], item: DescribedItem(item, secret: secret.bytes.count), created: created,
      secret: secret, circle)
    try RecordRow(
      name: names.name(ofKept: new.signed.digest), head: RecordRow.Head(new, .kept, title),
      file: try new.sealed(to: circle.members.recipients, epoch: circle.epoch), epoch: circle.epoch
    ).write(change)
  }

  /// Signs the version of a machine that is no longer a member, so that the others still accept it.
  func sign(_ row: RecordRow) throws -> RecordRow {
    guard let circle = try circle() else { return row }
    var new = try signed(row.revision(for: circle), row.name, row.head.title, replacing: row.head.seen)
    (new.item, new.published) = (row.item, row.published)
    (new.head.state, new.head.reason) = (row.head.state, row.head.reason)
    return new
  }
}

extension ItemRecord {
  var isSynchronizable: Bool { attributes[.synchronizable].map { !$0.isEmpty } ?? false }
}
