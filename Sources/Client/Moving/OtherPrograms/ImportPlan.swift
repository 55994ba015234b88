package import SecretModel

/// The plan of an import, with the items' new names.
package struct ImportPlan: Sendable {
  package var coming: [ImportEntry] = []
  /// The store has an item of that name.
  package var alreadyThere: [ItemName] = []
  /// Further entries of the source under a name that an earlier one has.
  package var duplicates: [ItemName] = []
  package var unusable: [UnusableEntry]
  /// The fields that are left out of all entries.
  package var leftOut: [String]
}

/// What an import has done.
package struct ImportOutcome: Sendable {
  package var brought: [ItemName] = []
  package var alreadyThere: [ItemName]
  package var duplicates: [ItemName]
  package var unusable: [UnusableEntry]
  package var leftOut: [String]

  /// Whether all secrets of the source can be imported. Entries whose names already exist in the store are not
  /// compared.
  package var isWhole: Bool { duplicates.isEmpty && unusable.isEmpty }
}
