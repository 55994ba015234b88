/// Which proof is wanted, whatever it is wanted for: the two policies of LocalAuthentication.
public enum AuthenticationPolicy: Int, Sendable {
  /// A finger; no passcode in its place.
  case biometrics = 1
  /// A finger, or the passcode.
  case deviceOwner = 2
}
