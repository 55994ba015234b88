// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals
// The names are Apple's.

public import Foundation

/// The domain of statuses: `NSOSStatusErrorDomain`.
public nonisolated(unsafe) let kCFErrorDomainOSStatus: CFErrorDomain! = NSOSStatusErrorDomain as NSString
/// The domain of numbers of POSIX: `NSPOSIXErrorDomain`.
public nonisolated(unsafe) let kCFErrorDomainPOSIX: CFErrorDomain! = NSPOSIXErrorDomain as NSString
/// The domain of Foundation's own errors: `NSCocoaErrorDomain`.
public nonisolated(unsafe) let kCFErrorDomainCocoa: CFErrorDomain! = NSCocoaErrorDomain as NSString
/// What an error says in words, in its user info: `NSLocalizedDescriptionKey`.
public nonisolated(unsafe) let kCFErrorLocalizedDescriptionKey: CFString! = NSLocalizedDescriptionKey as NSString

/// Makes an error. Never nil; optional as Apple's is.
///
/// - Parameters:
///   - allocator: means nothing here.
///   - domain: the domain of the code.
///   - code: what happened.
///   - userInfo: what else there is to say, under keys that are text; nil for nothing.
@discardableResult
public func CFErrorCreate(
  _ allocator: CFAllocator?, _ domain: CFErrorDomain!, _ code: CFIndex, _ userInfo: CFDictionary?
) -> CFError! {
  NSError(domain: domain as String, code: code, userInfo: userInfo as? [String: Any])
}

/// The code of an error.
@discardableResult
public func CFErrorGetCode(_ error: CFError) -> CFIndex { error.code }

/// The domain of an error. Never nil; optional as Apple's is.
@discardableResult
public func CFErrorGetDomain(_ error: CFError) -> CFErrorDomain! { error.domain as NSString }

/// What else an error says. Never nil; optional as Apple's is.
@discardableResult
public func CFErrorCopyUserInfo(_ error: CFError) -> CFDictionary! { error.userInfo as NSDictionary }

/// An error in words. Never nil; optional as Apple's is.
@discardableResult
public func CFErrorCopyDescription(_ error: CFError) -> CFString! { error.localizedDescription as NSString }

/// Why it failed, in words, where the error says.
@discardableResult
public func CFErrorCopyFailureReason(_ error: CFError) -> CFString? {
  error.localizedFailureReason.map { $0 as NSString }
}

extension NSError {
  /// What a call of this module reports.
  convenience init(status: OSStatus, _ description: String) {
    self.init(
      domain: NSOSStatusErrorDomain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: description])
  }
}

extension UnsafeMutablePointer where Pointee == Unmanaged<CFError>? {
  /// Hands an error to the caller, who has to release it (transfer full).
  func set(_ error: NSError) { pointee = Unmanaged.passRetained(error) }
}
