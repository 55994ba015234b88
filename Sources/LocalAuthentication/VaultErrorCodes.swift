internal import Fingerprint
internal import Security
package import Vault

extension LAError {
  /// What an evaluation of the vault's came to, in LocalAuthentication's words. The vault's own error goes along under
  /// `NSUnderlyingErrorKey`.
  package init(_ error: VaultError) {
    let code = Code(error)
    self.init(
      code,
      userInfo: [
        NSLocalizedDescriptionKey: code.words, NSDebugDescriptionErrorKey: "\(error)", NSUnderlyingErrorKey: error,
      ])
  }
}

extension LAError.Code {
  /// Every way a call to the vault can end, so that a new one has to be given its code here.
  package init(_ error: VaultError) {
    self =
      switch error {
      // The person, or the program
      case .authenticationFailed, .wrongPasscode, .wrongApplicationPassword, .wrongRecoveryKey, .malformedRecoveryKey,
        .passcodeDelayed:
        .authenticationFailed
      case .cancelled: .userCancel
      case .userFallback: .userFallback
      case .appCancelled: .appCancel
      case .contextInvalidated: .invalidContext
      case .interactionNotAllowed: .notInteractive

      // What is set up
      case .passcodeNotSet, .storeNotFound: .passcodeNotSet
      case .notEnrolled: .biometryNotEnrolled
      case .biometryLockout: .biometryLockout

      // Readers
      case .reader(let error): Self(error)
      case .chipListMismatch: .biometryNotAvailable

      // Ended by what happened elsewhere
      case .systemCancelled, .busy, .timedOut: .systemCancel

      // What the answer cannot be trusted after, and what makes no sense: refused
      case .touchRefused, .setChanged, .itemInvalidated, .differentReader, .invalidName, .itemNotFound, .itemGone,
        .itemExists,
        .secretTooLong, .fingerNotEnrolled, .fingerDuplicate, .invalidPasscode, .invalidAccessControl, .duplicateItem,
        .invalidRequest:
        .authenticationFailed

      // A store that cannot be used answers for no finger
      case .configuration, .storeExists, .unsafeDirectory, .deviceKeyMissing, .itemDamaged, .storeDamaged,
        .restoreDetected,
        .newerFormat, .inputOutput, .internalError:
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
        .processDied, .cannotStart, .device:
        .biometryNotAvailable
      }
  }
}
