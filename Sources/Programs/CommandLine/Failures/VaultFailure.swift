import SecretModel
import Whorl

extension Failure {
  /// The failure for each error of the vault.
  init(_ error: VaultError) {
    self.init(error.status, error.explanation, name: error.appleName)
    cause = error
    vaultHasEnded =
      switch error {
      case .systemCancelled, .contextInvalidated: true
      default: false
      }
  }
}

extension VaultError {
  /// The exit status of a command that ends with it.
  var status: ExitStatus {
    switch self {
    case .invalidName, .secretTooLong, .invalidPasscode, .guessablePasscode, .invalidAccessControl, .invalidRequest:
      .usage
    case .fingerNotEnrolled, .notEnrolled, .itemGone, .storeNotFound: .notFound
    case .fingerDuplicate, .duplicateItem, .storeExists: .exists
    case .fingersNotAccepted, .authenticationFailed, .cancelled, .appCancelled, .userFallback, .biometryLockout,
      .wrongPasscode, .wrongRecoveryKey, .malformedRecoveryKey, .wrongApplicationPassword, .passcodeDelayed,
      .applicationPasswordDelayed, .passcodeNotSet, .interactionNotAllowed, .itemInvalidated, .differentReader,
      .setChanged, .touchRefused, .sessionRefused, .notUnlocked, .wrongPassphrase:
      .refused
    case .notAuthorized(let problem, _): problem == .unavailable ? .unavailable : .refused
    case .systemCancelled, .contextInvalidated, .busy, .timedOut, .outcomeUnknown: .tryAgain
    case .reader(let error): error.status
    case .printsGone, .serviceUnavailable, .versionMismatch: .unavailable
    case .configuration, .unsafeDirectory: .configuration
    case .deviceKeyMissing, .itemDamaged, .storeDamaged, .restoreDetected, .recoveryKeyRequired, .newerFormat,
      .olderFormat, .fileUnreadable:
      .damaged
    case .tpm(let problem, _):
      switch problem {
      case .absent, .refused: .unavailable
      case .changed, .registersChanged: .damaged
      case .lockedOut: .refused
      case .ownerPassword: .configuration
      }
    case .credential(let problem, _): problem == .absent ? .unavailable : .damaged
    case .storeFull, .inputOutput: .inputOutput
    case .internalError: .internalError
    }
  }

  /// The name that the library's calls with Apple's names have for it: an `LAError`, else an `OSStatus`.
  var appleName: String? {
    switch self {
    case .invalidName, .invalidPasscode, .guessablePasscode, .invalidAccessControl, .invalidRequest: "errSecParam"
    case .secretTooLong: "errSecDataTooLarge"
    case .fingerNotEnrolled, .itemGone: "errSecItemNotFound"
    case .fingerDuplicate, .duplicateItem: "errSecDuplicateItem"
    case .notEnrolled, .fingersNotAccepted: "LAError.biometryNotEnrolled"
    case .authenticationFailed, .setChanged, .touchRefused: "LAError.authenticationFailed"
    case .cancelled, .appCancelled, .userFallback: Failure.cancelled.name
    case .systemCancelled, .contextInvalidated, .timedOut: "LAError.systemCancel"
    case .biometryLockout: "LAError.biometryLockout"
    case .wrongPasscode, .wrongRecoveryKey, .malformedRecoveryKey, .wrongApplicationPassword, .passcodeDelayed,
      .applicationPasswordDelayed, .itemInvalidated, .differentReader, .notAuthorized, .wrongPassphrase:
      "errSecAuthFailed"
    case .passcodeNotSet: "LAError.passcodeNotSet"
    case .interactionNotAllowed, .sessionRefused, .notUnlocked: "errSecInteractionNotAllowed"
    case .reader(let error): error.appleName
    case .printsGone: "LAError.biometryNotAvailable"
    case .configuration: nil
    case .storeNotFound: "errSecNoSuchKeychain"
    case .storeExists: "errSecDuplicateKeychain"
    case .unsafeDirectory, .deviceKeyMissing, .storeDamaged, .restoreDetected, .recoveryKeyRequired, .newerFormat,
      .olderFormat:
      "errSecInvalidKeychain"
    case .tpm(let problem, _):
      switch problem {
      case .absent, .ownerPassword, .refused: "errSecNotAvailable"
      case .changed, .registersChanged: "errSecInvalidKeychain"
      case .lockedOut: "errSecAuthFailed"
      }
    case .credential(let problem, _): problem == .absent ? "errSecNotAvailable" : "errSecInvalidKeychain"
    case .itemDamaged, .fileUnreadable: "errSecDecode"
    case .storeFull: "errSecDiskFull"
    case .busy: "errSecNotAvailable"
    case .inputOutput: "errSecIO"
    case .internalError: "errSecInternalError"
    case .serviceUnavailable, .versionMismatch, .outcomeUnknown: "errSecServiceNotAvailable"
    }
  }

  /// Whether the store's own key is lost, so that only the recovery key opens the store.
  var isLostDeviceKey: Bool {
    switch self {
    case .deviceKeyMissing, .credential, .tpm(.absent, _), .tpm(.changed, _), .tpm(.registersChanged, _),
      .tpm(.refused, _):
      true
    default: false
    }
  }
}
