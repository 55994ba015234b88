package import SecretModel

extension AttributeName {
  /// The address of the site of an imported password; Whorl's own.
  package static let url = Self(rawValue: "whorl.url")

  /// A further address, whose number is at least 2; Whorl's own.
  static func furtherURL(_ number: Int) -> Self { Self(rawValue: "whorl.url.\(number)") }
}

extension [AttributeName: AttributeValue] {
  /// All addresses of an imported password, the first one first.
  package var addresses: [String] {
    let names = [.url] + (2...EntryAddresses.most).map(AttributeName.furtherURL)
    return names.compactMap { if case .text(let address)? = self[$0] { address } else { nil } }
  }
}
