internal import Fingerprint
internal import Foundation
package import SecretModel

/// The codes of `LAError`, which `LocalAuthentication` names. They are here because uses of keys report them, too.
package enum AuthenticationCode: Int, CaseIterable, Sendable {
  case authenticationFailed = -1
  case userCancel = -2
  case userFallback = -3
  case systemCancel = -4
  case passcodeNotSet = -5
  case biometryNotAvailable = -6
  case biometryNotEnrolled = -7
  case biometryLockout = -8
  case appCancel = -9
  case invalidContext = -10
  case companionNotAvailable = -11
  case biometryNotPaired = -12
  case biometryDisconnected = -13
  case invalidDimensions = -14
  case notInteractive = -1004

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

  /// The code of an error of the vault. The switch is exhaustive, so that every new error gets a code.
  package init(_ error: VaultError) {
    self =
      switch error {
      // The person, or the program
      case .authenticationFailed, .wrongPasscode, .wrongApplicationPassword, .wrongRecoveryKey, .malformedRecoveryKey,
        .passcodeDelayed, .applicationPasswordDelayed, .wrongPassphrase:
        .authenticationFailed
      case .cancelled: .userCancel
      case .userFallback: .userFallback
      case .appCancelled: .appCancel
      case .contextInvalidated: .invalidContext
      case .interactionNotAllowed, .sessionRefused, .notUnlocked: .notInteractive

      // What is set up
      case .passcodeNotSet, .storeNotFound: .passcodeNotSet
      case .notEnrolled, .fingersNotAccepted: .biometryNotEnrolled
      case .biometryLockout: .biometryLockout

      // Readers
      case .reader(let error): Self(error)
      case .printsGone: .biometryNotAvailable

      // Ended by other programs or the system
      case .systemCancelled, .busy, .timedOut: .systemCancel

      // Errors after which nothing can be trusted, and invalid requests
      case .notAuthorized, .touchRefused, .setChanged, .itemInvalidated, .differentReader, .invalidName, .itemGone,
        .secretTooLong,
        .fingerNotEnrolled, .fingerDuplicate, .invalidPasscode, .guessablePasscode, .invalidAccessControl,
        .duplicateItem,
        .invalidRequest:
        .authenticationFailed

      // A store that cannot be used
      case .configuration, .storeExists, .unsafeDirectory, .deviceKeyMissing, .tpm, .credential, .itemDamaged,
        .storeDamaged, .restoreDetected, .recoveryKeyRequired,
        .newerFormat, .olderFormat, .storeFull, .fileUnreadable, .inputOutput, .internalError, .serviceUnavailable,
        .versionMismatch,
        .outcomeUnknown:
        .biometryNotAvailable
      }
  }

  private init(_ error: ReaderError) {
    self =
      switch error {
      case .removed: .biometryDisconnected
      case .cancelled: .userCancel
      case .busy, .suspended, .printsChanged: .systemCancel
      case .absent, .permissionDenied, .tooHot, .notSupported, .storageFull, .notOnChip, .duplicate, .badTemplate,
        .processDied, .cannotStart, .fprintdRefused, .fprintdUnreachable, .fprintdFilesUnreadable, .notLent, .device:
        .biometryNotAvailable
      }
  }
}

extension VaultError {
  /// The `NSError` for a failed authentication, with the vault's error under `NSUnderlyingErrorKey`.
  package var authenticationError: NSError {
    let code = AuthenticationCode(self)
    return NSError(
      domain: AuthenticationCode.domain, code: code.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: authenticationWords ?? code.words, NSDebugDescriptionErrorKey: "\(self)",
        NSUnderlyingErrorKey: self,
      ])
  }

  /// The text for errors that say more than their code.
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
