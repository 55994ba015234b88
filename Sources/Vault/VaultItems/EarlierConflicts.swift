import Primitives
import SecretModel
import VaultStore
import VaultSync

// A circle of the first format is not continued. What it has kept because two machines changed an item at once becomes an
// item of its own when this machine begins anew.
extension StoreTransaction {
  /// Stores the versions that a circle of the first format has kept, as items that are not shared.
  func storeEarlierConflicts() throws {
    guard let slot = try slot(.circle), let earlier = try EarlierCircle(slot, in: store) else { return }
    let writer = ItemWriter(self, journal: nil)
    for row in try records(where: "item IS NULL") where row.head.state == .kept {
      guard let (head, item, secret) = earlier.version(in: row) else { continue }
      var record = ItemRecord(item, head)
      record.attributes[.synchronizable] = nil
      let account = if case .text(let text)? = record.attributes[.account] { "\(text) " } else { "" }
      record.attributes[.account] = .text("\(account)(other version \(row.keptID.prefix(4)))")
      var protection = ItemProtection(access: item.access, accessibility: item.accessibility)
      // Nobody has touched a reader now, so the passcode takes the place of the finger.
      if protection.requirement.mentions(.boundFinger) {
        protection = ItemProtection(access: AccessControl(.passcode), accessibility: item.accessibility)
      }
      _ = try writer.insert(record, protection, secret: secret.bytes, replacing: true)
    }
  }
}
