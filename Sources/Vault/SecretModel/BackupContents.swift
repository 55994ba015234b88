/// What a backup would change in the store that it was made of.
package struct BackupContents: Sendable {
  /// Identifies the shown state of store and backup. Restoring fails if either has changed since.
  package struct ID: Sendable, Hashable {
    package let digest: [UInt8]

    package init(digest: [UInt8]) { self.digest = digest }
  }

  /// What is needed to restore it.
  package enum Proof: String, Sendable {
    case passcode
    /// The store has no passcode, or has another one than when the backup was made.
    case recoveryKey = "recovery key"
  }

  package var id: ID
  package var proof: Proof
  /// The number of living items in the backup.
  package var items: Int
  /// Living items of the store that the backup does not have: they are lost.
  package var removed: [ItemName]
  /// Living items of the backup that the store does not have.
  package var returning: [ItemName]
  /// Items of both that become what they were.
  package var changed: [ItemName]
  /// Living items of the backup that are bound to fingers or a passcode that are gone: they come back dead.
  package var dead: [ItemName]

  package init(
    id: ID, proof: Proof, items: Int, removed: [ItemName], returning: [ItemName], changed: [ItemName],
    dead: [ItemName]
  ) {
    self.id = id
    self.proof = proof
    self.items = items
    self.removed = removed
    self.returning = returning
    self.changed = changed
    self.dead = dead
  }
}
