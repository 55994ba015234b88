/// What a partial restore of the store's files from an earlier copy would bring back. Until it is accepted, nothing is
/// stored, and no item is released that asks for a finger or a passcode.
package struct DetectedRestore: Sendable {
  /// Identifies the shown state. Accepting fails if the store has changed since.
  package struct ID: Sendable, Hashable {
    package let digest: [UInt8]

    package init(digest: [UInt8]) { self.digest = digest }
  }

  /// What is needed to accept it.
  package enum Acceptance: String, Sendable {
    /// The passcode, which is the one last set.
    case passcode
    /// The recovery key, in a store without a passcode.
    case recoveryKey = "recovery key"
    /// The recovery key, and a new passcode: no record shows that the restored passcode is the last one.
    case recoveryKeyAndNewPasscode = "recovery key and a new passcode"
  }

  package var id: ID
  package var acceptance: Acceptance
  /// The restored fingers, by reader.
  package var sets: [SetStatus]
  /// Whether the restored fingers are dropped when the restore is accepted, and must be enrolled again: no record shows
  /// that they are the last ones.
  package var fingersAreForgotten: Bool
  /// The restored living items.
  package var items: [ItemName]
  /// Those of the items that die with dropped fingers.
  package var lost: [ItemName]

  package init(
    id: ID, acceptance: Acceptance, sets: [SetStatus], fingersAreForgotten: Bool, items: [ItemName], lost: [ItemName]
  ) {
    self.id = id
    self.acceptance = acceptance
    self.sets = sets
    self.fingersAreForgotten = fingersAreForgotten
    self.items = items
    self.lost = lost
  }
}
