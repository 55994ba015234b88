// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals
// The names are Apple's.

public import Foundation

/// The domain of `OSStatus` codes: `NSOSStatusErrorDomain`.
public nonisolated(unsafe) let kCFErrorDomainOSStatus: CFErrorDomain! = NSOSStatusErrorDomain as NSString
/// The domain of POSIX error numbers: `NSPOSIXErrorDomain`.
public nonisolated(unsafe) let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as NSString
/// The domain of Foundation's own errors: `NSCocoaErrorDomain`.
public nonisolated(unsafe) let kCFErrorDomainCocoa: CFErrorDomain! = NSCocoaErrorDomain as NSString
/// The key of the description in an error's user info: `NSLocalizedDescriptionKey`.
public nonisolated(unsafe) let kCFErrorLocalizedDescriptionKey: CFString! = NSLocalizedDescriptionKey as NSString

/// Makes an error. Never nil; optional because Apple's result is.
///
/// - Parameters:
///   - allocator: ignored.
///   - domain: the domain of the code.
///   - code: the error code.
///   - userInfo: further information under string keys; nil for none.
@discardableResult
public func CFErrorCreate(
  _ allocator: CFAllocator?, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary?
) -> CFError! {
  NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// The code of an error.
@discardableResult
public func CFErrorGetCode(_ error: CFError) -> CFIndex { error.code }

/// The domain of an error. Never nil; optional because Apple's result is.
@discardableResult
public func CFErrorGetDomain(_ error: CFError) -> CFErrorDomain! { error.domain as NSString }

/// The user info of an error. Never nil; optional because Apple's result is.
@discardableResult
public func CFErrorCopyUserInfo(_ error: CFError) -> CFDictionary! { error.userInfo as NSDictionary }

/// The description of an error. Never nil; optional because Apple's result is.
@discardableResult
public func CFErrorCopyDescription(_ error: CFError) -> CFString! { error.localizedDescription as NSString }

/// The reason of the failure, if the error has one.
@discardableResult
public func CFErrorCopyFailureReason(_ error: CFError) -> CFString? {
  error.localizedFailureReason.map { $0 as NSString }
}

extension NSError {
  /// The error that a call of this module reports.
  convenience init(status: OSStatus, _ description: String) {
    self.init(
      domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: description])
  }
}

extension UnsafeMutablePointer where Pointee == Unmanaged<CFError>? {
  /// Stores an error for the caller, who must release it (transfer full).
  func set(_ error: NSError) { pointee = Unmanaged.passRetained(error) }
}
