package import SecretModel

extension VaultError {
  /// The status of a call. A cancel by the person is −128, a forbidden question −25308, and every other failure of an
  /// authentication −25293.
  package var status: OSStatus {
    switch self {
    case .cancelled: errSecUserCanceled
    case .interactionNotAllowed, .sessionRefused, .notUnlocked: errSecInteractionNotAllowed
    case .authenticationFailed, .notAuthorized, .userFallback, .appCancelled, .systemCancelled, .contextInvalidated,
      .biometryLockout,
      .wrongPasscode, .wrongRecoveryKey, .malformedRecoveryKey, .wrongApplicationPassword, .passcodeDelayed,
      .applicationPasswordDelayed, .wrongPassphrase,
      .passcodeNotSet, .notEnrolled, .fingersNotAccepted, .differentReader, .setChanged, .touchRefused, .reader,
      .printsGone, .timedOut, .invalidPasscode, .guessablePasscode, .fingerNotEnrolled, .fingerDuplicate:
      errSecAuthFailed

    case .duplicateItem: errSecDuplicateItem
    // An item whose set is gone counts as absent: with another status, clients would retry for ever.
    case .itemGone, .itemInvalidated: errSecItemNotFound
    case .invalidName, .invalidAccessControl, .invalidRequest: errSecParam
    case .secretTooLong: errSecDataTooLarge

    case .configuration, .storeNotFound, .deviceKeyMissing, .tpm, .credential, .unsafeDirectory,
      .restoreDetected, .recoveryKeyRequired, .busy:
      errSecNotAvailable
    case .storeExists: errSecDuplicateKeychain
    case .storeDamaged: errSecInvalidKeychain
    case .itemDamaged, .fileUnreadable: errSecDecode
    case .newerFormat, .olderFormat: errSecWrongSecVersion
    case .storeFull: errSecDiskFull
    case .inputOutput: errSecIO
    case .internalError: errSecInternalError
    case .serviceUnavailable, .versionMismatch, .outcomeUnknown: errSecServiceNotAvailable
    }
  }
}
