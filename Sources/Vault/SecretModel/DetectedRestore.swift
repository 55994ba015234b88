/// What an earlier copy of the store's files, put back in part, would bring with it. Nothing that asks for a finger or a
/// passcode is released, and nothing is stored, before somebody accepts it.
package struct DetectedRestore: Sendable {
  /// Names what was shown: accepting fails where the store has changed since.
  package struct ID: Sendable, Hashable {
    package let digest: [UInt8]

    package init(digest: [UInt8]) { self.digest = digest }
  }

  /// Who can accept it.
  package enum Acceptance: String, Sendable {
    /// The passcode, which is the one last set.
    case passcode
    /// The recovery key, in a store without a passcode.
    case recoveryKey = "recovery key"
    /// The recovery key, and a new passcode has to be set: no record vouches for the one that came back.
    case recoveryKeyAndNewPasscode = "recovery key and a new passcode"
  }

  package var id: ID
  package var acceptance: Acceptance
  /// The fingers that come back, by reader.
  package var sets: [SetStatus]
  /// No record vouches for these fingers: they count no more once the restore is accepted, and are enrolled again.
  package var fingersAreForgotten: Bool
  /// The living items that come back.
  package var items: [ItemName]
  /// Those of them that die with forgotten fingers.
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
