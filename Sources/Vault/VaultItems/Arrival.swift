import SecretModel
import VaultStore
import VaultSync

/// A verified file of an item's record.
struct Arrival {
  let name: [UInt8]
  let file: [UInt8]
  let revision: Revision
  /// Nil for a deletion.
  let item: NewItem?
  let record: ItemRecord?
  /// Whether it is a version that lost a conflict.
  let isKept: Bool
  let epoch: Int

  var title: ItemName { record?.name ?? ItemName(unchecked: "", account: "") }

  init(
    _ file: [UInt8], _ name: [UInt8], _ names: RecordNames, _ circle: Circle, at place: Int, from authors: Authors
  ) throws(VaultError) {
    try self.init(
      file, name, names,
      try Revision(
        file, with: circle.keys.encryption, expectedAt: place, circle: circle.circle, from: authors))
    // Otherwise it would never be encrypted again for machines that join later.
    guard epoch <= circle.epoch, revision.head.clock.epoch <= circle.published else {
      throw .fileUnreadable("it was written for a list of machines that this one has not seen")
    }
  }

  init(
    _ file: [UInt8], _ name: [UInt8], from rescue: Circle.Rescue, _ authors: Authors
  ) throws(VaultError) {
    let last = rescue.chain[rescue.chain.count - 1]
    try self.init(
      file, name, RecordNames(rescue.contents.nameKey),
      try Revision(
        file, with: rescue.key, expectedAt: last.members.count, circle: last.circle, from: authors))
  }

  private init(_ file: [UInt8], _ name: [UInt8], _ names: RecordNames, _ revision: Revision) throws(VaultError) {
    self.file = file
    self.name = name
    self.revision = revision
    epoch = Revision.epoch(of: file)
    item = try revision.head.item?.item
    record = item.map { ItemRecord($0, revision.head) }
    isKept = record != nil && name == names.name(ofKept: revision.signed.digest)
    let own = record.map { names.name(of: $0.primary) } ?? revision.head.name?.bytes
    guard isKept || own == name else {
      throw .fileUnreadable("it stands under the name of another record")
    }
    guard record?.isSynchronizable ?? true else { throw .fileUnreadable("its item is not to be shared") }
    do throws(VaultError) { try record?.check() } catch { throw .fileUnreadable("its attributes are too long") }
  }

  /// Whether its secret is not for this machine, or is another one than was signed; false while that cannot be told.
  func isUnreadable(with keys: SecretKeys) -> Bool {
    guard item != nil else { return false }
    do throws(SecretObstacle) { _ = try revision.secret(with: keys) } catch .unreadable { return true } catch {}
    return false
  }

  /// Whether it wins against a concurrent version. A version that replaces another one has the greater clock, so all
  /// machines find the same order.
  func wins(over row: RecordRow) -> Bool {
    let mine = (revision.head.clock, revision.writer.description)
    let other = (row.head.clock, row.head.writer)
    // A machine that lies, or was restored from a backup, has signed two versions with one clock.
    return mine == other ? row.head.version.bytes.lexicographicallyPrecedes(revision.signed.digest) : mine > other
  }

  /// Whether it is the version that a row has, encrypted anew or not.
  func isVersion(of row: RecordRow) -> Bool { revision.signed.digest == row.head.version.bytes }
}

extension ItemRecord {
  init(_ item: NewItem, _ head: Revision.Head) {
    self.init(itemClass: item.itemClass, attributes: item.attributes, created: head.created, modified: head.modified)
  }
}
