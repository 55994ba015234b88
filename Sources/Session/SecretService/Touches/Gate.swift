internal import Whorl

/// What one program has to show at the moment of a call: the rules of the items, and that of the program.
struct Gate {
  let locks: Locks
  let reads: GatedReads
  let rule: ProgramRule.Value?

  /// Whether a finger or the passcode is asked for before the program reads the item.
  func isGated(_ item: SecretServiceItem) -> Bool { item.isGated || rule != nil }

  /// Whether the item is read only after a prompt now.
  func isLocked(_ item: SecretServiceItem) -> Bool {
    locks.isLocked(item) || isGated(item) && reads.granted(item) == nil
  }
}
