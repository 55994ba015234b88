// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

internal import Foundation

/// The identifier of an object's type: 0 for one this module does not name.
@discardableResult
public func CFGetTypeID(_ object: CFTypeRef?) -> CFTypeID {
  switch object {
  case is NSString: CFStringGetTypeID()
  case is NSData: CFDataGetTypeID()
  case is NSDictionary: CFDictionaryGetTypeID()
  case is NSArray: CFArrayGetTypeID()
  case let number as NSNumber: number.isTruthValue ? CFBooleanGetTypeID() : CFNumberGetTypeID()
  case is NSDate: CFDateGetTypeID()
  case is NSSet: CFSetGetTypeID()
  case is NSURL: CFURLGetTypeID()
  case is NSNull: CFNullGetTypeID()
  case is NSError: CFErrorGetTypeID()
  case is SecKey: SecKeyGetTypeID()
  case is SecAccessControl: SecAccessControlGetTypeID()
  case is SecKeychainItem: SecKeychainItemGetTypeID()
  case is SecCertificate: SecCertificateGetTypeID()
  case is SecIdentity: SecIdentityGetTypeID()
  default: 0
  }
}

/// The identifier of null.
@discardableResult
public func CFNullGetTypeID() -> CFTypeID { 16 }
/// The identifier of sets.
@discardableResult
public func CFSetGetTypeID() -> CFTypeID { 17 }
/// The identifier of URLs.
@discardableResult
public func CFURLGetTypeID() -> CFTypeID { 29 }
/// The identifier of text.
@discardableResult
public func CFStringGetTypeID() -> CFTypeID { 7 }
/// The identifier of dictionaries.
@discardableResult
public func CFDictionaryGetTypeID() -> CFTypeID { 18 }
/// The identifier of arrays.
@discardableResult
public func CFArrayGetTypeID() -> CFTypeID { 19 }
/// The identifier of bytes.
@discardableResult
public func CFDataGetTypeID() -> CFTypeID { 20 }
/// The identifier of truth values.
@discardableResult
public func CFBooleanGetTypeID() -> CFTypeID { 21 }
/// The identifier of numbers.
@discardableResult
public func CFNumberGetTypeID() -> CFTypeID { 22 }
/// The identifier of errors.
@discardableResult
public func CFErrorGetTypeID() -> CFTypeID { 27 }
/// The identifier of points in time.
@discardableResult
public func CFDateGetTypeID() -> CFTypeID { 42 }

extension NSNumber {
  /// Whether it was made from a `Bool`.
  var isTruthValue: Bool { String(cString: objCType) == "c" || String(cString: objCType) == "B" }
}
