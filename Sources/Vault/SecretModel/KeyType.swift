package import KeySchemes

/// The values of ``AttributeName/keyType``: Apple's where Apple has one.
extension KeyFamily {
  package var keyType: String {
    switch self {
    case .ec: "73"
    case .rsa: "42"
    case .ed25519: "whorl.ed25519"
    }
  }

  /// Nil for an unknown type.
  package init?(keyType: String) {
    guard let family = Self.allCases.first(where: { $0.keyType == keyType }) else { return nil }
    self = family
  }
}
