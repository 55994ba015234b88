internal import KeychainServices
internal import SecretModel

extension VaultError {
  /// The error of a call of a right: an `LAError` where an authentication failed, else the status of the keychain as an
  /// `NSError` of `NSOSStatusErrorDomain`.
  var rightError: any Error {
    switch self {
    case .itemGone, .itemInvalidated, .duplicateItem, .secretTooLong, .itemDamaged:
      NSError(
        domain: NSOSStatusErrorDomain, code: Int(status),
        userInfo: [NSLocalizedDescriptionKey: (SecCopyErrorMessageString(status, nil) as String?) ?? "\(self)"])
    default: LAError(self)
    }
  }
}
