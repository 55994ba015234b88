package import SecretModel

extension VaultError {
  /// What a call of Keychain Services answers. Authentication follows one rule: cancelled by the person is −128,
  /// nobody may be asked −25308, and everything else that keeps somebody from authenticating −25293.
  package var status: OSStatus {
    switch self {
    case .cancelled: errSecUserCanceled
    case .interactionNotAllowed, .sessionRefused, .notUnlocked: errSecInteractionNotAllowed
    case .authenticationFailed, .notAuthorized, .userFallback, .appCancelled, .systemCancelled, .contextInvalidated,
      .biometryLockout,
      .wrongPasscode, .wrongRecoveryKey, .malformedRecoveryKey, .wrongApplicationPassword, .passcodeDelayed,
      .applicationPasswordDelayed,
      .passcodeNotSet, .notEnrolled, .fingersNotAccepted, .differentReader, .setChanged, .touchRefused, .reader,
      .printsGone, .timedOut, .invalidPasscode, .fingerNotEnrolled, .fingerDuplicate:
      errSecAuthFailed

    case .duplicateItem: errSecDuplicateItem
    // An item whose set is gone counts as absent: a client would loop on anything else.
    case .itemGone, .itemInvalidated: errSecItemNotFound
    case .invalidName, .invalidAccessControl, .invalidRequest: errSecParam
    case .secretTooLong: errSecDataTooLarge

    case .configuration, .storeNotFound, .deviceKeyMissing, .unsafeDirectory, .restoreDetected,
      .recoveryKeyRequired, .busy:
      errSecNotAvailable
    case .storeExists: errSecDuplicateKeychain
    case .storeDamaged: errSecInvalidKeychain
    case .itemDamaged: errSecDecode
    case .newerFormat, .olderFormat: errSecWrongSecVersion
    case .storeFull: errSecDiskFull
    case .inputOutput: errSecIO
    case .internalError: errSecInternalError
    case .serviceUnavailable, .versionMismatch, .outcomeUnknown: errSecServiceNotAvailable
    }
  }
}
