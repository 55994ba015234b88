package import SecretModel

/// The stage of a run.
package enum SyncProgress: Sendable, Hashable {
  case receiving(Int, of: Int)
  case taking(Int, of: Int)
  case writing(Int, of: Int)
  case sending(Int, of: Int)
}

/// What a run has done.
package struct SyncReport: Sendable, Hashable {
  /// Items that were added or changed here.
  package var changed: [ItemName] = []
  /// Items that were removed here.
  package var removed: [ItemName] = []
  /// Items in conflict: two machines have changed them at the same time.
  package var kept: [ItemName] = []
  /// Files that were refused.
  package var refused: [SyncReceipt.Refusal] = []
  /// How many files the vault was given.
  package var taken = 0
  /// How many files the remote got; in a dry run, how many records it would get.
  package var published = 0
  /// How many records the remote has lost.
  package var lost = 0
  /// Whether the remote was rolled back to a state older than this machine has seen.
  package var wentBack = false
  /// Whether the remote's history was replaced by another one.
  package var wasRewritten = false
  /// Whether the remote has a combination of files that no member has published.
  package var isMixed = false
  /// The state of the store afterwards.
  package var status = SyncStatus()

  /// Whether nothing was published, because the remote has lost something.
  package var isHeldBack: Bool { wentBack || lost > 0 }

  mutating func add(_ receipt: SyncReceipt) {
    changed += receipt.changed
    removed += receipt.removed
    kept += receipt.kept
    refused += receipt.refused
    wentBack = wentBack || receipt.wentBack
    isMixed = receipt.isMixed
  }
}
