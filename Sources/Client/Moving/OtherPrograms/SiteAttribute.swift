package import SecretModel

extension AttributeName {
  /// The address of the site of an imported password; Whorl's own.
  package static let url = Self(rawValue: "whorl.url")
}
