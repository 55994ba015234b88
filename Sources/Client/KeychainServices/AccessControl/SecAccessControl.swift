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
