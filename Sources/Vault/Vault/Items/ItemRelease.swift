import SecretModel

extension Moment {
  /// The only place where an item's key is unwrapped. It reads the rows again: row, revision and set must be those that
  /// the evidence was given for.
  func release(_ wanted: [WantedItem], _ evidence: Evidence) throws -> [ReleasedItem] {
    if let grant = evidence.grant {
      guard try set(of: grant) != nil else { throw VaultError.setChanged }
    }
    try evidence.passcode?.requireCurrent(self)
    return try wanted.map { try release($0, evidence) }
  }

  private func release(_ item: WantedItem, _ evidence: Evidence) throws -> ReleasedItem {
    try authority.requireNoRestore(unless: item.isOpen)
    guard let row = try self.item(item.row.id), row.reference == item.row.reference else {
      throw VaultError.busy("\(item.record.name) was changed meanwhile")
    }
    guard let classKey = try classKey(item.accessibility) else {
      throw VaultError.itemInvalidated(item.record.name)
    }
    let satisfied = item.requirement.alternatives.first { item.isSatisfied($0, by: evidence) }
    guard let satisfied else { throw VaultError.touchRefused }
    let keys = Requirement.wrapping(of: satisfied)
    var parts = WrappingParts(classKey: classKey)
    if keys.contains(.boundFinger) {
      guard let set = try sets().first(where: { $0.set.generation == row.generation }) else {
        throw VaultError.touchRefused
      }
      parts.add(setKey: try setKey(of: set))
    }
    if let password = item.password { parts.add(applicationPassword: password.secret) }
    guard let shown = store.item(of: row, item.record) else { throw VaultError.itemDamaged(item.record.name) }
    let wrong = item.password == nil ? VaultError.itemDamaged(item.record.name) : .wrongApplicationPassword
    return ReleasedItem(
      shown,
      secret: try ItemSealer(self).open(
        row, item.record, keys, under: parts, passcode: evidence.passcode?.key, otherwise: wrong))
  }
}
