internal import KeySchemes

extension Curve {
  /// What libcrypto calls it.
  var name: String {
    switch self {
    case .p256: "P-256"
    case .p384: "P-384"
    case .p521: "P-521"
    }
  }
}
