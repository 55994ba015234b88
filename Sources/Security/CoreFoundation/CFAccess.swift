// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals
// The names are Apple's: the few functions of Core Foundation that keychain code calls from Swift.

public import Foundation

/// Whether two objects are equal.
@discardableResult
public func CFEqual(_ one: CFTypeRef?, _ other: CFTypeRef?) -> Bool {
  if one === other { return true }
  guard let one = one as? NSObject, let other = other as? NSObject else { return false }
  return one.isEqual(other)
}

/// Equal for equal objects.
@discardableResult
public func CFHash(_ object: CFTypeRef?) -> CFHashCode { CFHashCode(bitPattern: (object as? NSObject)?.hash ?? 0) }

/// An object in words. Never nil for an object; optional as Apple's is.
@discardableResult
public func CFCopyDescription(_ object: CFTypeRef?) -> CFString! {
  object.map { (($0 as? NSObject)?.description ?? "\($0)") as NSString }
}

/// The number of bytes.
@discardableResult
public func CFDataGetLength(_ data: CFData) -> CFIndex { data.length }

/// The bytes, good for as long as `data` is.
@discardableResult
public func CFDataGetBytePtr(_ data: CFData) -> UnsafePointer<UInt8>? {
  data.length == 0 ? nil : data.bytes.assumingMemoryBound(to: UInt8.self)
}

/// A copy of bytes.
@discardableResult
public func CFDataCreate(_ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex) -> CFData? {
  guard let bytes else { return length == 0 ? NSData() : nil }
  return NSData(bytes: bytes, length: length)
}

/// Bytes that stay where they are.
///
/// - Parameters:
///   - allocator: means nothing here.
///   - bytes: where they are.
///   - length: how many.
///   - bytesDeallocator: ``kCFAllocatorNull`` where they are the caller's, and outlive the data; otherwise they are of
///     `malloc`, and freed with the data.
@discardableResult
public func CFDataCreateWithBytesNoCopy(
  _ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex, _ bytesDeallocator: CFAllocator?
) -> CFData? {
  guard let bytes else { return length == 0 ? NSData() : nil }
  // Taken over (transfer full) but for the null allocator, with which they are lent.
  return NSData(
    bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
    freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}

/// The number of elements.
@discardableResult
public func CFArrayGetCount(_ array: CFArray) -> CFIndex { array.count }

/// The number of pairs.
@discardableResult
public func CFDictionaryGetCount(_ dictionary: CFDictionary) -> CFIndex { dictionary.count }

/// The number of UTF-16 units.
@discardableResult
public func CFStringGetLength(_ text: CFString) -> CFIndex { text.length }

/// The value of a Boolean.
@discardableResult
public func CFBooleanGetValue(_ value: CFBoolean) -> Bool { value.boolValue }

/// Sets a value.
public func CFDictionarySetValue(_ dictionary: CFMutableDictionary, _ key: CFString, _ value: CFTypeRef) {
  dictionary.setObject(value, forKey: key)
}

/// The time now, in seconds since 2001.
@discardableResult
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }
