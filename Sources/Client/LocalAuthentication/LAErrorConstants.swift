// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

/// The domain of ``LAError``.
public let LAErrorDomain = "com.apple.LocalAuthentication"
/// ``LAErrorDomain``
public let kLAErrorDomain = LAErrorDomain

/// `LAError.authenticationFailed` as a number.
public let kLAErrorAuthenticationFailed: Int32 = -1
/// `LAError.userCancel` as a number.
public let kLAErrorUserCancel: Int32 = -2
/// `LAError.userFallback` as a number.
public let kLAErrorUserFallback: Int32 = -3
/// `LAError.systemCancel` as a number.
public let kLAErrorSystemCancel: Int32 = -4
/// `LAError.passcodeNotSet` as a number.
public let kLAErrorPasscodeNotSet: Int32 = -5
/// `LAError.biometryNotAvailable` as a number.
public let kLAErrorBiometryNotAvailable: Int32 = -6
/// `LAError.biometryNotEnrolled` as a number.
public let kLAErrorBiometryNotEnrolled: Int32 = -7
/// `LAError.biometryLockout` as a number.
public let kLAErrorBiometryLockout: Int32 = -8
/// `LAError.appCancel` as a number.
public let kLAErrorAppCancel: Int32 = -9
/// `LAError.invalidContext` as a number.
public let kLAErrorInvalidContext: Int32 = -10
/// `LAError.companionNotAvailable` as a number.
public let kLAErrorCompanionNotAvailable: Int32 = -11
/// `LAError.biometryNotPaired` as a number.
public let kLAErrorBiometryNotPaired: Int32 = -12
/// `LAError.biometryDisconnected` as a number.
public let kLAErrorBiometryDisconnected: Int32 = -13
/// `LAError.invalidDimensions` as a number.
public let kLAErrorInvalidDimensions: Int32 = -14
/// `LAError.notInteractive` as a number.
public let kLAErrorNotInteractive: Int32 = -1004
/// `LAError.biometryNotAvailable` as a number, under its earlier name.
public let kLAErrorTouchIDNotAvailable: Int32 = -6
/// `LAError.biometryNotEnrolled` as a number, under its earlier name.
public let kLAErrorTouchIDNotEnrolled: Int32 = -7
/// `LAError.biometryLockout` as a number, under its earlier name.
public let kLAErrorTouchIDLockout: Int32 = -8
/// `LAError.companionNotAvailable` as a number, under its earlier name.
public let kLAErrorWatchNotAvailable: Int32 = -11
