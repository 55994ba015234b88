// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

// The types of Core Foundation that the keychain's calls take and return.
//
// The names are Apple's.

@_exported public import Foundation

// The type names of Core Foundation that keychain code uses. Linux has no Core Foundation module, so they are aliases
// of `Foundation`'s classes: `as CFDictionary`, `as! CFData` and `&result` then work as on Apple's systems.

/// A string.
public typealias CFString = NSString
/// A mutable string.
public typealias CFMutableString = NSMutableString
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// A mutable dictionary.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// A mutable array.
public typealias CFMutableArray = NSMutableArray
/// Data.
public typealias CFData = NSData
/// Mutable data.
public typealias CFMutableData = NSMutableData
/// A number.
public typealias CFNumber = NSNumber
/// A Boolean.
public typealias CFBoolean = NSNumber
/// A date.
public typealias CFDate = NSDate
/// A URL.
public typealias CFURL = NSURL
/// A set.
public typealias CFSet = NSSet
/// Null.
public typealias CFNull = NSNull
/// An error.
public typealias CFError = NSError
/// Any object.
public typealias CFTypeRef = AnyObject

/// A count or an index.
public typealias CFIndex = Int
/// A set of flags.
public typealias CFOptionFlags = UInt
/// The identifier of a type, as ``CFGetTypeID(_:)`` returns it.
public typealias CFTypeID = UInt
/// A hash value, as ``CFHash(_:)`` returns it.
public typealias CFHashCode = UInt
/// A duration in seconds.
public typealias CFTimeInterval = Double
/// A time in seconds since the beginning of 2001 (UTC).
public typealias CFAbsoluteTime = Double
/// The domain of an error.
public typealias CFErrorDomain = NSString

/// The status of a call: 0 for success, or one of `errSec…`.
public typealias OSStatus = Int32
/// A code of four characters as a number.
public typealias OSType = UInt32
/// 0: success.
public let noErr: OSStatus = 0

/// An allocator. Memory is always allocated the same way here, which ``kCFAllocatorDefault`` means. As a deallocator,
/// ``kCFAllocatorNull`` frees nothing.
public final class CFAllocator: Sendable {
  fileprivate init() {}
}

// Implicitly unwrapped as Apple's are, because code contains both `kCFBooleanTrue` and `kCFBooleanTrue!`.

/// The default allocator.
public let kCFAllocatorDefault: CFAllocator! = nil
/// The null allocator: the caller frees the memory.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
/// True.
public let kCFBooleanTrue: CFBoolean! = true
/// False.
public let kCFBooleanFalse: CFBoolean! = false
/// Null.
public let kCFNull: CFNull! = NSNull()

/// A string encoding.
public typealias CFStringEncoding = UInt32
/// UTF-8.
public let kCFStringEncodingUTF8: CFStringEncoding = 0x0800_0100

/// A type of this module that has an identifier as those of Core Foundation do.
protocol IdentifiedType {
  static var typeIdentifier: CFTypeID { get }
}

/// The type identifier of an object. 0 for a type that this module does not know.
@discardableResult
public func CFGetTypeID(_ object: CFTypeRef?) -> CFTypeID {
  switch object {
  case is NSString: CFStringGetTypeID()
  case is NSData: CFDataGetTypeID()
  case is NSDictionary: CFDictionaryGetTypeID()
  case is NSArray: CFArrayGetTypeID()
  case let number as NSNumber: number.isBoolean ? CFBooleanGetTypeID() : CFNumberGetTypeID()
  case is NSDate: CFDateGetTypeID()
  case is NSSet: CFSetGetTypeID()
  case is NSURL: CFURLGetTypeID()
  case is NSNull: CFNullGetTypeID()
  case is NSError: CFErrorGetTypeID()
  case let object as any IdentifiedType: type(of: object).typeIdentifier
  default: 0
  }
}

/// The type identifier of CFNull.
@discardableResult
public func CFNullGetTypeID() -> CFTypeID { 16 }
/// The type identifier of CFSet.
@discardableResult
public func CFSetGetTypeID() -> CFTypeID { 17 }
/// The type identifier of CFURL.
@discardableResult
public func CFURLGetTypeID() -> CFTypeID { 29 }
/// The type identifier of CFString.
@discardableResult
public func CFStringGetTypeID() -> CFTypeID { 7 }
/// The type identifier of CFDictionary.
@discardableResult
public func CFDictionaryGetTypeID() -> CFTypeID { 18 }
/// The type identifier of CFArray.
@discardableResult
public func CFArrayGetTypeID() -> CFTypeID { 19 }
/// The type identifier of CFData.
@discardableResult
public func CFDataGetTypeID() -> CFTypeID { 20 }
/// The type identifier of CFBoolean.
@discardableResult
public func CFBooleanGetTypeID() -> CFTypeID { 21 }
/// The type identifier of CFNumber.
@discardableResult
public func CFNumberGetTypeID() -> CFTypeID { 22 }
/// The type identifier of CFError.
@discardableResult
public func CFErrorGetTypeID() -> CFTypeID { 27 }
/// The type identifier of CFDate.
@discardableResult
public func CFDateGetTypeID() -> CFTypeID { 42 }

extension NSNumber {
  /// Whether this number was made from a `Bool`.
  var isBoolean: Bool { String(cString: objCType) == "c" || String(cString: objCType) == "B" }
}

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

// Keys of `Bundle.main.infoDictionary`, from which keychain code often takes its default service. They are implicitly
// unwrapped as Apple's are, so that `String(kCFBundleIdentifierKey)` compiles on both systems.

/// The identifier of a bundle.
public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
/// The build of a bundle.
public nonisolated(unsafe) let kCFBundleVersionKey: CFString! = "CFBundleVersion"
/// The short name of a bundle.
public nonisolated(unsafe) let kCFBundleNameKey: CFString! = "CFBundleName"
/// The name of a bundle's executable.
public nonisolated(unsafe) let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"

// On Apple's systems a `String` and an `NSString` with the same text are the same dictionary key, so a result of type
// `[AnyHashable: Any]` can be read with `kSecAttrAccount` and with `kSecAttrAccount as String`. Keychain wrappers rely
// on that. Foundation on Linux lacks this conformance.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
  /// The string as a key that is equal to the same text as `String`.
  public func _toCustomAnyHashable() -> AnyHashable? { AnyHashable(self as String) }
}
