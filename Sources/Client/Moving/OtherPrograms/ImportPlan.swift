package import SecretModel

/// What an import would do. Names the items as they will be called.
package struct ImportPlan: Sendable {
  package var coming: [ImportEntry] = []
  /// The store has an item of that name.
  package var alreadyThere: [ItemName] = []
  /// Further entries of the source under a name that an earlier one has.
  package var duplicates: [ItemName] = []
  package var unusable: [UnusableEntry]
  /// What is left out of all entries.
  package var leftOut: [String]
  /// Those of ``coming`` that one touch binds to the enrolled fingers.
  package var binding: [ItemName] = []
}

/// What an import has done.
package struct ImportOutcome: Sendable {
  package var brought: [ItemName] = []
  package var alreadyThere: [ItemName]
  package var duplicates: [ItemName]
  package var unusable: [UnusableEntry]
  package var leftOut: [String]

  /// Whether no secret of the source stayed behind. The entries whose names the store has already are not compared.
  package var isWhole: Bool { duplicates.isEmpty && unusable.isEmpty }
}
