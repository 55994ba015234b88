// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

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
