// swift-format-ignore-file: AlwaysUseLowerCamelCase

// What can be asked for, and by which kind of reader.
//
// The names are Apple's.

public import KeychainServices

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

/// The kinds of biometry. On Linux it is ``touchID`` or ``none``.
@nonexhaustive(warn)
public enum LABiometryType: Int, Sendable {
  /// No reader is attached, or ``LAContext/canEvaluatePolicy(_:error:)`` was not called yet.
  case none = 0
  /// A fingerprint reader, of any make.
  case touchID = 1
  /// A face; never used here.
  case faceID = 2
  /// An iris; never used here.
  case opticID = 4

  /// The earlier name of ``none``.
  public static var LABiometryNone: LABiometryType { .none }
}

/// `LABiometryType.none` as a number.
public let kLABiometryTypeNone: Int32 = 0
/// `LABiometryType.touchID` as a number.
public let kLABiometryTypeTouchID: Int32 = 1
/// `LABiometryType.faceID` as a number.
public let kLABiometryTypeFaceID: Int32 = 2
/// `LABiometryType.opticID` as a number.
public let kLABiometryTypeOpticID: Int32 = 4

/// The kinds of companions (LACompanionType.h, macOS 15). Linux has none.
@nonexhaustive(warn)
public enum LACompanionType: Int, Sendable {
  /// A watch.
  case watch = 1
}

/// Identifies the fingers and companions that authentication relies on. Compare the hashes to notice a change.
open class LADomainState: NSObject {
  /// The fingers.
  public let biometry: LADomainStateBiometry
  /// The companions: none here.
  public let companion: LADomainStateCompanion
  /// The state of both parts together: equal to that of the fingers, since there are no companions.
  public let stateHash: Data?

  init(biometryType: LABiometryType, stateHash: Data?) {
    biometry = LADomainStateBiometry(biometryType: biometryType, stateHash: stateHash)
    companion = LADomainStateCompanion()
    self.stateHash = stateHash
  }
}

/// The fingers' part of ``LADomainState``.
open class LADomainStateBiometry: NSObject {
  /// Like ``LAContext/biometryType``.
  public let biometryType: LABiometryType
  /// Like ``LAContext/evaluatedPolicyDomainState``.
  public let stateHash: Data?

  init(biometryType: LABiometryType, stateHash: Data?) {
    self.biometryType = biometryType
    self.stateHash = stateHash
  }
}

/// The companions' part of ``LADomainState``: Linux has none.
open class LADomainStateCompanion: NSObject {
  /// Always empty.
  public var availableCompanionTypes: Set<LACompanionType> { [] }
  /// Always nil.
  public var stateHash: Data? { nil }

  override init() {}

  /// Always nil.
  public func stateHash(for companionType: LACompanionType) -> Data? { nil }
}
