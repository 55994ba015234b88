// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

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
