/// The two policies of LocalAuthentication: the proof that is wanted.
public enum AuthenticationPolicy: Int, Sendable {
  /// A finger; no passcode in its place.
  case biometrics = 1
  /// A finger, or the passcode.
  case deviceOwner = 2
}
