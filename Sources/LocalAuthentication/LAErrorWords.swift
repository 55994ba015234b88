extension LAError.Code {
  /// What people read of it where a caller shows `localizedDescription`.
  var words: String {
    switch self {
    case .authenticationFailed: "The fingerprint or the passcode was not the right one."
    case .userCancel: "Authentication was cancelled."
    case .userFallback: "The fallback was chosen."
    case .systemCancel: "Authentication was ended by the system."
    case .passcodeNotSet: "No passcode is set."
    case .biometryNotAvailable: "No fingerprint reader can be used."
    case .biometryNotEnrolled: "No fingers are enrolled."
    case .biometryLockout: "Too many touches matched no enrolled finger: the passcode is needed."
    case .appCancel: "Authentication was ended by the program."
    case .invalidContext: "The authentication context is no longer valid."
    case .companionNotAvailable: "No companion device can be used."
    case .biometryNotPaired: "No fingerprint reader is paired."
    case .biometryDisconnected: "The fingerprint reader was unplugged."
    case .invalidDimensions: "There is no room for the prompt."
    case .notInteractive: "Authentication would need the person, who may not be asked."
    }
  }
}
