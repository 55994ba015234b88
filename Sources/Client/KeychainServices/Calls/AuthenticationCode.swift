internal import Foundation
package import SecretModel

extension AuthenticationCode {
  /// The domain of the codes.
  package static let domain = "com.apple.LocalAuthentication"

  /// The text of `localizedDescription`.
  package var words: String {
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

extension VaultError {
  /// The `NSError` for a failed authentication, with the vault's error under `NSUnderlyingErrorKey`.
  package var authenticationError: NSError {
    let code = described.apple.code
    return NSError(
      domain: AuthenticationCode.domain, code: code.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: authenticationWords ?? code.words, NSDebugDescriptionErrorKey: "\(self)",
        NSUnderlyingErrorKey: self,
      ])
  }

  /// The text for errors that are more specific than their code.
  private var authenticationWords: String? {
    func words(_ secrets: String, _ seconds: Int) -> String {
      "Too many wrong \(secrets): the next one is taken in \(seconds == 1 ? "1 second" : "\(seconds) seconds")."
    }
    return switch self {
    case .passcodeDelayed(let seconds): words("passcodes", seconds)
    case .applicationPasswordDelayed(let seconds): words("passwords", seconds)
    default: nil
    }
  }
}
