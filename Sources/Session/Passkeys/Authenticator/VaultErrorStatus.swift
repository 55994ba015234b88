internal import SecretModel

extension CTAPStatus {
  /// The status code for an error of the vault.
  init(_ error: VaultError) {
    self =
      switch error {
      case .cancelled, .userFallback, .appCancelled, .systemCancelled, .contextInvalidated, .authenticationFailed,
        .wrongPasscode, .touchRefused:
        .operationDenied
      case .timedOut: .userActionTimeout
      case .biometryLockout, .passcodeDelayed: .uvBlocked
      case .storeFull, .passkeysFull: .keyStoreFull
      case .itemGone, .itemInvalidated: .noCredentials
      case .invalidRequest, .invalidAccessControl: .invalidParameter
      case .interactionNotAllowed, .sessionRefused, .notUnlocked, .notAuthorized, .notEnrolled, .passcodeNotSet,
        .storeNotFound:
        .notAllowed
      default: .other
      }
  }
}
