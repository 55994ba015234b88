import Presence
import Primitives
import SecretModel
import VaultStore

extension StoreSnapshot {
  /// The only place where an item's key is unwrapped. It reads the rows again: row, revision and set must be those that
  /// the person was asked for.
  ///
  /// - Parameters:
  ///   - wereJustRead: whether the items were read in this very transaction, so that their rows are the current ones.
  ///   - skippingDamaged: whether to leave out damaged items, instead of releasing none.
  func release(
    _ wanted: [WantedItem], _ proofs: GivenProofs, wereJustRead: Bool = false, skippingDamaged skips: Bool = false
  ) throws -> [ReleasedItem] {
    try requireCurrent(proofs)
    let keys = ItemKeys(self)
    var room = ReleasedItem.sizeLimit
    // An item that is named twice is released as the same object, to save memory.
    var before: [[UInt8]: ReleasedItem] = [:]
    return try wanted.compactMap { item in
      let released: ReleasedItem
      do {
        released =
          try before[item.row.id] ?? release(item, wereJustRead ? item.row : current(item), proofs, keys)
      } catch VaultError.itemDamaged where skips {
        return nil
      }
      before[item.row.id] = released
      room -= released.secret.count
      guard room >= 0 else {
        throw VaultError.invalidRequest("the secrets have more than \(ReleasedItem.sizeLimit >> 20) MiB together")
      }
      return released
    }
  }

  private func current(_ item: WantedItem) throws -> ItemRow {
    guard let row = try self.item(item.row.id), row.reference == item.row.reference else {
      throw VaultError.busy("\(item.record.name) was changed meanwhile")
    }
    return row
  }

  private func release(
    _ item: WantedItem, _ row: ItemRow, _ proofs: GivenProofs, _ itemKeys: ItemKeys
  ) throws -> ReleasedItem {
    try authority.requireNoRestore(unless: item.isOpen)
    guard let classKey = try itemKeys.classKey(item.accessibility) else {
      throw VaultError.itemInvalidated(item.record.name)
    }
    guard let satisfied = item.need.satisfied(by: proofs) else { throw VaultError.touchRefused }
    let keys = Requirement.wrapping(of: satisfied)
    var parts = WrappingParts(classKey: classKey.bytes)
    if keys.contains(.boundFinger) {
      guard let set = try itemKeys.set(of: row.generation) else { throw VaultError.touchRefused }
      parts.add(setKey: try itemKeys.setKey(of: set).bytes)
    }
    if let password = item.password { parts.add(applicationPassword: password.bytes) }
    guard let visible = store.item(of: row, item.record) else { throw VaultError.itemDamaged(item.record.name) }
    let wrong = item.password == nil ? VaultError.itemDamaged(item.record.name) : .wrongApplicationPassword
    return ReleasedItem(
      visible,
      secret: try ItemSealer(self, itemKeys).open(
        row, item.record, keys, under: parts, passcode: proofs.passcode?.key, otherwise: wrong))
  }
}
