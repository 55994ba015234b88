// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

internal import Foundation

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
