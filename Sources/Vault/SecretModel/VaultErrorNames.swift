extension VaultError {
  /// All that is known of the error.
  package var described: VaultErrorDescription { .of(self) }
  /// The name of the error, without its associated values.
  package var name: VaultErrorName { described.name }
  /// What the error means to a person.
  package var explanation: Explanation { described.explanation }

  /// The error with this name and these details; nil where the details are not those of the error.
  package init?(_ name: VaultErrorName, _ details: VaultErrorDetails) {
    guard let error = VaultErrorMakers.all[name]?(details) else { return nil }
    self = error
  }
}

extension VaultErrorName {
  /// The name on the bus, behind a prefix, and in the log: "ItemGone".
  package var word: String { self == .tpm ? "TPM" : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  private static let byWord = Dictionary(uniqueKeysWithValues: allCases.map { ($0.word, $0) })

  /// Nil for a word that no error has.
  package init?(word: String) {
    guard let name = Self.byWord[word] else { return nil }
    self = name
  }
}

/// Makes errors from their names and details.
private enum VaultErrorMakers {
  static let all = {
    var makers = VaultError.withOtherDetails
    for error in VaultError.withoutDetails { makers[error.name] = { _ in error } }
    for make in VaultError.withText { makers[make("").name] = { $0.text.map(make) } }
    for make in VaultError.withNumber { makers[make(0).name] = { $0.number.map(make) } }
    for make in VaultError.withItem {
      makers[make(ItemName(unchecked: "", account: "")).name] = { $0.item.map(make) }
    }
    return makers
  }()
}
