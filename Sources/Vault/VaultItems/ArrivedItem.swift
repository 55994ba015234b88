import Presence
import SecretModel
import VaultStore
package import VaultSync

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
  func require(_ proofs: GivenProofs, for access: AccessControl) throws {
    try requireCurrent(proofs)
    guard proofs.satisfies(access) else { throw VaultError.touchRefused }
  }
}

extension VaultError {
  /// - Parameter accessibility: the class of the item.
  init(_ obstacle: SecretObstacle, _ accessibility: Accessibility) {
    self =
      switch obstacle {
      case .closed(.byClass): .notUnlocked(accessibility)
      case .closed(.byPasscode): .touchRefused
      case .closed(.withoutPasscode): .passcodeNotSet
      case .unreadable: .invalidRequest("its secret is not for this computer yet: another one has to sync first")
      }
  }
}
