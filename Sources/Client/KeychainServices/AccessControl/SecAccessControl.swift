// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The names are Apple's.

public import Foundation
package import SecretModel

/// When an item can be read, and what must be shown before. Objects with the same protection and flags are equal.
public final class SecAccessControl: NSObject, Sendable {
  let protection: Protection
  package let access: AccessControl

  init(protection: Protection, access: AccessControl) {
    self.protection = protection
    self.access = access
  }

  /// Whether something has to happen before an item is read.
  package var isConstrained: Bool { access.isConstrained }

  /// Whether both have the same protection and flags.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecAccessControl else { return false }
    return protection == other.protection && access == other.access
  }

  /// The same for equal objects.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(protection)
    hasher.combine(access)
    return hasher.finalize()
  }

  /// The protection and the bits of the flags.
  public override var description: String { "<SecAccessControl: \(protection.rawValue);\(access.flags.rawValue)>" }
}

extension AccessControl {
  /// Whether something has to happen before an item is read.
  var isConstrained: Bool { !flags.subtracting([.privateKeyUsage, .or, .and]).isEmpty }
}

extension SecAccessControl: IdentifiedType {
  static var typeIdentifier: CFTypeID { SecAccessControlGetTypeID() }
}

/// The identifier of access controls.
@discardableResult
public func SecAccessControlGetTypeID() -> CFTypeID { 300 }

/// An access control for new items.
///
/// - Parameters:
///   - allocator: ignored.
///   - protection: one of `kSecAttrAccessible…`, as `CFString` or as `String`.
///   - flags: what must be shown before the item is read; empty for nothing.
///   - error: set to `errSecParam` if the result is nil; the caller releases it.
/// - Returns: nil for an unknown protection, for `or` with `and`, for both kinds of biometry, for `userPresence` with
///   anything but `applicationPassword` or `privateKeyUsage`, for a companion that is not one of several under `or`,
///   and for unknown flags.
@discardableResult
public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: Any, _ flags: SecAccessControlCreateFlags,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
  guard let protection = Protection(protection) else {
    error?.set(NSError(status: errSecParam, "The protection is not one of the kSecAttrAccessible… constants."))
    return nil
  }
  do {
    let access = try AccessControl(AccessControl.Flags(rawValue: UInt64(flags.rawValue)))
    return SecAccessControl(protection: protection, access: access)
  } catch {
    let why = if case .invalidAccessControl(let why) = error { why } else { "they have no meaning together" }
    set(why)
    return nil
  }

  func set(_ why: String) {
    error?.set(NSError(status: errSecParam, "The flags of the access control are not valid: \(why)."))
  }
}

/// What must be shown before an item is read. The bits are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
  /// The bits.
  public let rawValue: CFOptionFlags

  /// Flags from their bits; ``SecAccessControlCreateWithFlags(_:_:_:_:)`` refuses unknown ones.
  public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

  /// Bit 0: a finger, or the passcode in its place.
  public static let userPresence = Self(rawValue: 1 << 0)
  /// Bit 1: any finger enrolled at the time of reading.
  public static let biometryAny = Self(rawValue: 1 << 1)
  /// Bit 3: a finger of the set enrolled when the item was written; the item dies with the set.
  public static let biometryCurrentSet = Self(rawValue: 1 << 3)
  /// Bit 4: the passcode.
  public static let devicePasscode = Self(rawValue: 1 << 4)
  /// Bit 5: a watch. Linux has none, so it is accepted only with another constraint and `or`.
  public static let watch = Self(rawValue: 1 << 5)
  /// Bit 5: a companion; the newer name of `watch`.
  public static let companion = Self(rawValue: 1 << 5)
  /// Bit 14: one of the constraints is enough.
  public static let or = Self(rawValue: 1 << 14)
  /// Bit 15: all constraints are required. This is also the meaning of several constraints without `or`.
  public static let and = Self(rawValue: 1 << 15)
  /// Bit 30: a private key is used inside the vault and never leaves it.
  public static let privateKeyUsage = Self(rawValue: 1 << 30)
  /// Bit 31: a password of the item's own, in addition to the constraints.
  public static let applicationPassword = Self(rawValue: 1 << 31)

  /// Bit 1: the older name of `biometryAny`.
  public static let touchIDAny = Self.biometryAny
  /// Bit 3: the older name of `biometryCurrentSet`.
  public static let touchIDCurrentSet = Self.biometryCurrentSet
}

/// The values of `kSecAttrAccessible`.
enum Protection: String, CaseIterable {
  case whenUnlocked = "ak"
  case afterFirstUnlock = "ck"
  case always = "dk"
  case whenPasscodeSetThisDeviceOnly = "akpu"
  case whenUnlockedThisDeviceOnly = "aku"
  case afterFirstUnlockThisDeviceOnly = "cku"
  case alwaysThisDeviceOnly = "dku"

  /// Nil for anything but a known text.
  init?(_ value: Any) {
    guard let raw = value as? String else { return nil }
    self.init(rawValue: raw)
  }

  /// The vault's accessibility. Items never leave the device, so "this device only" makes no difference. "Always"
  /// becomes the least strict class.
  var accessibility: Accessibility {
    switch self {
    case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
    case .afterFirstUnlock, .always, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: .afterFirstUnlock
    case .whenPasscodeSetThisDeviceOnly: .passcodeSet
    }
  }
}
