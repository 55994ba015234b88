import GRDB
import Presence
import Primitives
import SecretModel
package import VaultStore
import VaultSync

extension StoreTransaction {
  /// Stores the circle's items again from their records, after all items were replaced.
  package func storeRecordsAgain() throws {
    guard let circle = try circle(), let names = circle.recordNames else { return }
    let writer = ItemWriter(self, journal: nil)
    // Items that a machine has since deleted or stored anew.
    var outdated: [ItemID] = []
    try ItemSearcher(self).each(ItemSearch(groups: .all, synchronizable: .yes), EarlierProofs()) { found in
      if let record = found.record, let row = try self.record(names.name(of: record.primary)), row.item != found.row.id
      {
        outdated.append(ItemID(bytes: found.row.id))
      }
      return true
    }
    if !outdated.isEmpty { _ = try writer.delete(.ids(outdated)) }
    let keys = try SecretKeys(of: self)
    for var row in try records(where: "item IS NOT NULL") {
      let revision = try row.revision(for: circle)
      guard let item = try revision.head.item?.item, let id = row.item else { continue }
      let outcome = try SyncedItem(item, ItemRecord(item, revision.head), revision).store(
        writer, with: keys, over: id)
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
    try ItemSearcher(self).each(ItemSearch(groups: .all, synchronizable: .yes), EarlierProofs()) { found in
      if let item = try? wanted(found.row, found.record), item.isOpen, try closed(item.accessibility) == nil {
        open.append(item)
      }
      return true
    }
    let journal = SyncJournal(self)
    for (item, released) in zip(open, try release(open, GivenProofs(), wereJustRead: true)) {
      try journal.stored(
        item.record, item.row.id, ItemProtection(access: item.access, accessibility: item.accessibility),
        secret: released.secret)
    }
  }

  /// Encrypts records for the newest members that need the passcode, with its key.
  func encryptAgain(for circle: Circle, with passcodeKey: SharedSecret) throws {
    guard try circle.standing == .member else { return }
    let rewriter = RecordRewriter(self, circle, try SecretKeys(of: self, passcodeKey: passcodeKey))
    for row in try records(where: "epoch < ?", [circle.epoch]) { _ = try rewriter.current(row) }
  }
}

extension RecordRow {
  /// Notes which file the repository has of the record, even if it is not this one.
  func notePublished(_ file: [UInt8], _ change: StoreTransaction) throws {
    let digest = RecordRow.digest(of: file)
    guard published != digest else { return }
    var row = self
    row.published = digest
    try row.write(change)
  }
}
