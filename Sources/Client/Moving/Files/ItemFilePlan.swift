package import SecretModel

/// The plan of an import from a file, with the items' new names.
package struct ItemFilePlan: Sendable {
  package internal(set) var coming = Listing<ItemName>()
  /// The store has an item of that name.
  package internal(set) var alreadyThere = Listing<ItemName>()
  /// Further items of the file with the primary attributes of an earlier one.
  package internal(set) var duplicates = Listing<ItemName>()
  package internal(set) var unusable = Listing<UnusableEntry>()
  /// Those of ``coming`` that one touch binds to the enrolled fingers.
  package internal(set) var binding = Listing<ItemName>()
  /// For each item of the file, in order: whether it will be imported.
  var comes: [Bool] = []

  init() {}
}

/// What an import of a file has done.
package struct ItemFileOutcome: Sendable {
  package internal(set) var brought = Listing<ItemName>()
  package internal(set) var alreadyThere: Listing<ItemName>
  package internal(set) var duplicates: Listing<ItemName>
  package internal(set) var unusable: Listing<UnusableEntry>

  /// The result of a plan by which nothing is imported.
  package init(nothingOf plan: ItemFilePlan) {
    self.init(alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable)
  }

  init(alreadyThere: Listing<ItemName>, duplicates: Listing<ItemName>, unusable: Listing<UnusableEntry>) {
    (self.alreadyThere, self.duplicates, self.unusable) = (alreadyThere, duplicates, unusable)
  }

  /// Whether all items of the file can be imported.
  package var isWhole: Bool { duplicates.count == 0 && unusable.count == 0 }
}
