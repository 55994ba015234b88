/// An error in Apple's libraries: the status of a call of Keychain Services, the code of an evaluation in
/// LocalAuthentication, and the name of one of the two, which the command line prints. Each determines the others
/// (decision 0138).
package struct AppleError: Sendable, Hashable {
  /// The status of a call.
  package let status: AppleStatus
  /// The code of an evaluation, or of the use of a key.
  package let code: AuthenticationCode
  /// The more specific of the two names.
  package let name: String

  /// A failed authentication.
  static func authentication(_ code: AuthenticationCode) -> AppleError {
    AppleError(status: code.status, code: code, name: "LAError.\(code)")
  }

  /// Any other failure.
  ///
  /// - Parameter code: the code of an evaluation with this failure; nil: derived from the status.
  static func status(_ status: AppleStatus, evaluated code: AuthenticationCode? = nil) -> AppleError {
    AppleError(status: status, code: code ?? status.code, name: "\(status)")
  }
}

/// The statuses of Apple's Security framework for errors of the vault.
package enum AppleStatus: Int32, CaseIterable, Sendable {
  case errSecDiskFull = -34
  case errSecIO = -36
  case errSecParam = -50
  case errSecUserCanceled = -128
  case errSecNotAvailable = -25291
  case errSecAuthFailed = -25293
  case errSecNoSuchKeychain = -25294
  case errSecInvalidKeychain = -25295
  case errSecDuplicateKeychain = -25296
  case errSecDuplicateItem = -25299
  case errSecItemNotFound = -25300
  case errSecDataTooLarge = -25302
  case errSecInteractionNotAllowed = -25308
  case errSecWrongSecVersion = -25310
  case errSecDecode = -26275
  case errSecServiceNotAvailable = -67585
  case errSecInternalError = -67671

  /// The code of an evaluation with this failure, by whether the store is still usable.
  fileprivate var code: AuthenticationCode {
    switch self {
    case .errSecUserCanceled: .userCancel
    case .errSecInteractionNotAllowed: .notInteractive
    case .errSecAuthFailed, .errSecParam, .errSecDuplicateItem, .errSecItemNotFound, .errSecDataTooLarge:
      .authenticationFailed
    case .errSecDiskFull, .errSecIO, .errSecNotAvailable, .errSecNoSuchKeychain, .errSecInvalidKeychain,
      .errSecDuplicateKeychain, .errSecWrongSecVersion, .errSecDecode, .errSecServiceNotAvailable, .errSecInternalError:
      .biometryNotAvailable
    }
  }
}

/// The codes of Apple's `LAError`. LocalAuthentication names them; uses of keys report them, too.
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

  /// The status of a call: −128 for a cancel by the person, −25308 for a forbidden prompt, and −25293 for every other
  /// failed authentication.
  fileprivate var status: AppleStatus {
    switch self {
    case .userCancel: .errSecUserCanceled
    case .notInteractive: .errSecInteractionNotAllowed
    default: .errSecAuthFailed
    }
  }
}
