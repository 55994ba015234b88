internal import KeySchemes

extension Curve {
  /// libcrypto's name of the curve.
  var name: String {
    switch self {
    case .p256: "P-256"
    case .p384: "P-384"
    case .p521: "P-521"
    }
  }
}
