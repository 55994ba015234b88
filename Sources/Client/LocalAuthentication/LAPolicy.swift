/// The proof that an evaluation requires.
@nonexhaustive(warn)
public enum LAPolicy: Int, Sendable {
  /// A finger. No passcode is asked for: the caller provides the fallback.
  case deviceOwnerAuthenticationWithBiometrics = 1
  /// A finger if one can be used; otherwise, if the person chooses so, or after three touches that do not match, the
  /// passcode.
  case deviceOwnerAuthentication = 2
  /// A watch or another companion, which Linux does not have: fails with `companionNotAvailable`.
  case deviceOwnerAuthenticationWithCompanion = 3
  /// A finger or a companion. Here it asks for a finger, like ``deviceOwnerAuthenticationWithBiometrics``.
  case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

  /// The earlier name of ``deviceOwnerAuthenticationWithCompanion``.
  public static var deviceOwnerAuthenticationWithWatch: LAPolicy { .deviceOwnerAuthenticationWithCompanion }
  /// The earlier name of ``deviceOwnerAuthenticationWithBiometricsOrCompanion``.
  public static var deviceOwnerAuthenticationWithBiometricsOrWatch: LAPolicy {
    .deviceOwnerAuthenticationWithBiometricsOrCompanion
  }
}

/// The operation for which an access control is evaluated.
@nonexhaustive(warn)
public enum LAAccessControlOperation: Int, Sendable {
  /// Storing an item.
  case createItem = 0
  /// Reading an item's secret.
  case useItem = 1
  /// Making a private key.
  case createKey = 2
  /// Signing with a private key.
  case useKeySign = 3
  /// Decrypting with a private key.
  case useKeyDecrypt = 4
  /// Agreeing on a secret with a private key.
  case useKeyKeyExchange = 5
}

/// The kinds of credentials that a caller can supply.
@nonexhaustive(warn)
public enum LACredentialType: Int, Sendable {
  /// The password of items whose access control has `applicationPassword`.
  case applicationPassword = 0
  /// The PIN of a smart card, which is not supported: setting it fails.
  case smartCardPIN = -3
}

/// `LAPolicy.deviceOwnerAuthenticationWithBiometrics` as a number.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometrics: Int32 = 1
/// `LAPolicy.deviceOwnerAuthentication` as a number.
public let kLAPolicyDeviceOwnerAuthentication: Int32 = 2
/// `LAPolicy.deviceOwnerAuthenticationWithCompanion` as a number.
public let kLAPolicyDeviceOwnerAuthenticationWithCompanion: Int32 = 3
/// `LAPolicy.deviceOwnerAuthenticationWithCompanion` as a number, under its earlier name.
public let kLAPolicyDeviceOwnerAuthenticationWithWatch: Int32 = 3
/// `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion` as a number.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrCompanion: Int32 = 4
/// `LAPolicy.deviceOwnerAuthenticationWithBiometricsOrCompanion` as a number, under its earlier name.
public let kLAPolicyDeviceOwnerAuthenticationWithBiometricsOrWatch: Int32 = 4
/// `LACredentialType.applicationPassword` as a number.
public let kLACredentialTypeApplicationPassword: Int32 = 0
/// `LACredentialType.smartCardPIN` as a number.
public let kLACredentialTypeSmartCardPIN: Int32 = -3
