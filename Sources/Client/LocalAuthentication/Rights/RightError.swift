internal import KeychainServices
internal import SecretModel

extension VaultError {
  /// The error for calls of rights: the keychain's status as an `NSError` of `NSOSStatusErrorDomain` for errors of
  /// items, else an `LAError`.
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
