// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

@_exported public import Foundation

// What keychain code calls the types of Core Foundation, which is not a module of its own here. `Foundation`'s classes
// stand in for them, so that `as CFDictionary`, `as! CFData` and `&result` do what they do on Apple's systems.

/// Text.
public typealias CFString = NSString
/// Text that can be changed.
public typealias CFMutableString = NSMutableString
/// A dictionary.
public typealias CFDictionary = NSDictionary
/// A dictionary that can be changed.
public typealias CFMutableDictionary = NSMutableDictionary
/// An array.
public typealias CFArray = NSArray
/// An array that can be changed.
public typealias CFMutableArray = NSMutableArray
/// Bytes.
public typealias CFData = NSData
/// Bytes that can be changed.
public typealias CFMutableData = NSMutableData
/// A number.
public typealias CFNumber = NSNumber
/// A truth value.
public typealias CFBoolean = NSNumber
/// A point in time.
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

/// A count or a position.
public typealias CFIndex = Int
/// Flags.
public typealias CFOptionFlags = UInt
/// Names a type, as ``CFGetTypeID(_:)`` answers.
public typealias CFTypeID = UInt
/// What ``CFHash(_:)`` answers.
public typealias CFHashCode = UInt
/// Seconds.
public typealias CFTimeInterval = Double
/// Seconds since 2001.
public typealias CFAbsoluteTime = Double
/// The domain of an error.
public typealias CFErrorDomain = NSString

/// The status of a call: 0, or one of `errSec…`.
public typealias OSStatus = Int32
/// Four characters as a number.
public typealias OSType = UInt32
/// 0: it worked.
public let noErr: OSStatus = 0

/// Where memory comes from. There is one way here, and ``kCFAllocatorDefault`` means it; ``kCFAllocatorNull`` frees
/// nothing.
public final class CFAllocator: Sendable {
  fileprivate init() {}
}

// Implicitly unwrapped as Apple's are: code says both `kCFBooleanTrue` and `kCFBooleanTrue!`.

/// The usual allocator.
public let kCFAllocatorDefault: CFAllocator! = nil
/// None: memory that somebody else frees.
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
/// True.
public let kCFBooleanTrue: CFBoolean! = true
/// False.
public let kCFBooleanFalse: CFBoolean! = false
/// Null.
public let kCFNull: CFNull! = NSNull()

/// Names an encoding of text.
public typealias CFStringEncoding = UInt32
/// UTF-8.
public let kCFStringEncodingUTF8: CFStringEncoding = 0x0800_0100
