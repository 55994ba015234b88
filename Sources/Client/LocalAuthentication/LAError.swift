// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The names are Apple's.

public import KeychainServices
package import SecretModel

/// Why an evaluation failed: an `NSError` of ``LAErrorDomain`` with a code.
///
/// `error as? LAError`, `catch LAError.userCancel` and `catch let error as NSError` all work, as does
/// `switch error.code`. An error of this domain with a code that is not in the list stays an `NSError`.
public struct LAError: _BridgedStoredNSError {
  /// What happened.
  @nonexhaustive(warn)
  public enum Code: Int, Sendable, _ErrorCodeProtocol {
    /// The error these codes belong to.
    public typealias _ErrorType = LAError

    /// The person was asked and did not prove who they are: three touches that did not match, or wrong passcodes.
    case authenticationFailed = -1
    /// The person cancelled.
    case userCancel = -2
    /// The person chose the fallback under a policy without a passcode: the caller must provide it.
    case userFallback = -3
    /// The store or the session ended, the reader timed out, or another program was using them.
    case systemCancel = -4
    /// The store has no passcode, or there is no store.
    case passcodeNotSet = -5
    /// There is no reader, or the one there is cannot be used.
    case biometryNotAvailable = -6
    /// No finger is enrolled on this reader.
    case biometryNotEnrolled = -7
    /// Five touches in a row did not match. Biometry is locked in every program until the passcode is given.
    case biometryLockout = -8
    /// The program invalidated the context during the evaluation.
    case appCancel = -9
    /// The context was invalidated before the call.
    case invalidContext = -10
    /// There is no watch or other companion on Linux.
    case companionNotAvailable = -11
    /// A removable reader was never paired; never used, since Linux has no pairing.
    case biometryNotPaired = -12
    /// The reader was unplugged.
    case biometryDisconnected = -13
    /// A view has no room for the prompt; never used, since there are no such views here.
    case invalidDimensions = -14
    /// The person would have to be asked, which is not allowed.
    case notInteractive = -1004

    /// The earlier name of ``biometryNotAvailable``.
    public static var touchIDNotAvailable: Code { .biometryNotAvailable }
    /// The earlier name of ``biometryNotEnrolled``.
    public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
    /// The earlier name of ``biometryLockout``.
    public static var touchIDLockout: Code { .biometryLockout }
    /// The earlier name of ``companionNotAvailable``.
    public static var watchNotAvailable: Code { .companionNotAvailable }
  }

  /// The error as Foundation knows it.
  public let _nsError: NSError

  /// Takes an error of ``LAErrorDomain`` with one of the codes above.
  public init(_nsError error: NSError) {
    precondition(error.domain == LAErrorDomain && Code(rawValue: error.code) != nil, "not an error of this domain")
    _nsError = error
  }

  /// ``LAErrorDomain``
  public static var _nsErrorDomain: String { LAErrorDomain }

  /// The person was asked and did not prove who they are: three touches that did not match, or wrong passcodes.
  public static var authenticationFailed: Code { .authenticationFailed }
  /// The person cancelled.
  public static var userCancel: Code { .userCancel }
  /// The person chose the fallback under a policy without a passcode: the caller must provide it.
  public static var userFallback: Code { .userFallback }
  /// The store or the session ended, the reader timed out, or another program was using them.
  public static var systemCancel: Code { .systemCancel }
  /// The store has no passcode, or there is no store.
  public static var passcodeNotSet: Code { .passcodeNotSet }
  /// There is no reader, or the one there is cannot be used.
  public static var biometryNotAvailable: Code { .biometryNotAvailable }
  /// No finger is enrolled on this reader.
  public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
  /// Five touches in a row did not match. Biometry is locked in every program until the passcode is given.
  public static var biometryLockout: Code { .biometryLockout }
  /// The program invalidated the context during the evaluation.
  public static var appCancel: Code { .appCancel }
  /// The context was invalidated before the call.
  public static var invalidContext: Code { .invalidContext }
  /// There is no watch or other companion on Linux.
  public static var companionNotAvailable: Code { .companionNotAvailable }
  /// A removable reader was never paired; never used, since Linux has no pairing.
  public static var biometryNotPaired: Code { .biometryNotPaired }
  /// The reader was unplugged.
  public static var biometryDisconnected: Code { .biometryDisconnected }
  /// A view has no room for the prompt; never used, since there are no such views here.
  public static var invalidDimensions: Code { .invalidDimensions }
  /// The person would have to be asked, which is not allowed.
  public static var notInteractive: Code { .notInteractive }
  /// The earlier name of ``biometryNotAvailable``.
  public static var touchIDNotAvailable: Code { .biometryNotAvailable }
  /// The earlier name of ``biometryNotEnrolled``.
  public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
  /// The earlier name of ``biometryLockout``.
  public static var touchIDLockout: Code { .biometryLockout }
  /// The earlier name of ``companionNotAvailable``.
  public static var watchNotAvailable: Code { .companionNotAvailable }
}

// Lets `nsError as? LAError` work for an `NSError` that another call made.
extension LAError: _ObjectiveCBridgeable {
  /// The error as Foundation knows it.
  public func _bridgeToObjectiveC() -> NSError { _nsError }

  /// For the compiler's casts.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) {
    guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
      preconditionFailure("\(source.domain) \(source.code) is no LAError")
    }
  }

  /// For the compiler's casts: refuses other domains and unknown codes.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout LAError?) -> Bool {
    // A code that is not listed has no case. It must not become an LAError, whose code could not be read.
    result =
      source.domain == LAErrorDomain && Code(rawValue: source.code) != nil ? LAError(_nsError: source) : nil
    return result != nil
  }

  /// For the compiler's casts.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> LAError {
    var result: LAError?
    guard let source, _conditionallyBridgeFromObjectiveC(source, result: &result), let result else {
      preconditionFailure("no LAError")
    }
    return result
  }
}

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

extension LAError {
  /// The error for an error of the vault.
  package init(_ error: VaultError) { self.init(_nsError: error.authenticationError) }

  /// The error of a policy that requires a companion device, which Linux does not have.
  static var noCompanion: LAError {
    LAError(.companionNotAvailable, userInfo: [NSLocalizedDescriptionKey: Code.companionNotAvailable.words])
  }
}

extension LAError.Code {
  /// The text of `localizedDescription`.
  package var words: String { AuthenticationCode(rawValue: rawValue)?.words ?? "" }
}

/// A pointer to which a call writes its error: `nil`, or `&error` with `var error: NSError?`.
///
/// Foundation defines it only on systems with an Objective-C runtime.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
