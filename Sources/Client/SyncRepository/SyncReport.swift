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
  /// Items that are new here, or other than before.
  package var changed: [ItemName] = []
  /// Items that are gone.
  package var removed: [ItemName] = []
  /// Items of which two machines have written a version at the same time.
  package var kept: [ItemName] = []
  /// Files that were not taken.
  package var refused: [SyncReceipt.Refusal] = []
  /// How many files the vault was given.
  package var taken = 0
  /// How many files the remote got; in a dry run, how many records it would get.
  package var published = 0
  /// How many records the remote had and has no longer.
  package var lost = 0
  /// Whether the remote offers less than this machine has seen there.
  package var wentBack = false
  /// Whether the remote's history was replaced by another one.
  package var wasRewritten = false
  /// Whether the remote has files that no member has published together.
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
