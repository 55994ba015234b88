internal import SecretServiceItems

/// What a program has to prove before it may read items, by their rules and its own, at the time of a call.
struct Gate {
  let locks: Locks
  let reads: GatedReads
  let rule: ProgramRule.Value?

  /// Whether the person is asked for a finger or the passcode before the program may read the item.
  func isGated(_ item: SecretServiceItem) -> Bool { item.isGated || rule != nil }

  /// Whether reading the item would need a prompt now.
  func isLocked(_ item: SecretServiceItem) -> Bool {
    locks.isLocked(item) || isGated(item) && reads.granted(item) == nil
  }
}
