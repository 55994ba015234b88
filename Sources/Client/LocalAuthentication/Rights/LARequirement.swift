public import KeychainServices
internal import SecretModel

/// The proof that a right requires (LARequirement.h, macOS 13).
public final class LAAuthenticationRequirement: NSObject, Sendable {
  let access: AccessControl

  private init(_ flags: AccessControl.Flags) { access = AccessControl(unchecked: flags) }

  /// A finger, or the passcode in its place.
  public class var `default`: LAAuthenticationRequirement { LAAuthenticationRequirement(.userPresence) }

  /// A finger. Fails without a reader and without an enrolled finger.
  public class var biometry: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryAny) }

  /// A finger of the set that is enrolled when the right is saved; for an unsaved right, when it is first checked or
  /// authorized. Fails for good once the set has changed.
  public class var biometryCurrentSet: LAAuthenticationRequirement { LAAuthenticationRequirement(.biometryCurrentSet) }

  /// A finger or the fallback.
  public class func biometry(fallback: LABiometryFallbackRequirement) -> LAAuthenticationRequirement {
    LAAuthenticationRequirement(fallback.flags)
  }
}

/// What is accepted in place of a finger (LARequirement.h, macOS 13).
public final class LABiometryFallbackRequirement: NSObject, Sendable {
  /// The flags of an access control that accepts a finger or this fallback.
  let flags: AccessControl.Flags

  private init(_ flags: AccessControl.Flags) { self.flags = flags }

  /// The machine's usual fallback, which is the passcode.
  public class var `default`: LABiometryFallbackRequirement { LABiometryFallbackRequirement(.userPresence) }

  /// The passcode.
  public class var devicePasscode: LABiometryFallbackRequirement {
    LABiometryFallbackRequirement([.biometryAny, .or, .devicePasscode])
  }
}
