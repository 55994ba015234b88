// swift-format-ignore-file: AlwaysUseLowerCamelCase, NeverUseImplicitlyUnwrappedOptionals

public import Foundation

// The names are Apple's. These are the functions of Core Foundation that keychain code in Swift calls.

/// Whether two objects are equal.
@discardableResult
public func CFEqual(_ one: CFTypeRef?, _ other: CFTypeRef?) -> Bool {
  if one === other { return true }
  guard let one = one as? NSObject, let other = other as? NSObject else { return false }
  return one.isEqual(other)
}

/// The hash value of an object. Equal objects have the same value.
@discardableResult
public func CFHash(_ object: CFTypeRef?) -> CFHashCode { CFHashCode(bitPattern: (object as? NSObject)?.hash ?? 0) }

/// The description of an object. Nil only for nil; optional because Apple's result is.
@discardableResult
public func CFCopyDescription(_ object: CFTypeRef?) -> CFString! {
  object.map { (($0 as? NSObject)?.description ?? "\($0)") as NSString }
}

/// The length of the data in bytes.
@discardableResult
public func CFDataGetLength(_ data: CFData) -> CFIndex { data.length }

/// A pointer to the bytes, valid as long as `data` exists.
@discardableResult
public func CFDataGetBytePtr(_ data: CFData) -> UnsafePointer<UInt8>? {
  data.length == 0 ? nil : data.bytes.assumingMemoryBound(to: UInt8.self)
}

/// Makes data from a copy of bytes.
@discardableResult
public func CFDataCreate(_ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex) -> CFData? {
  guard let bytes else { return length == 0 ? NSData() : nil }
  return NSData(bytes: bytes, length: length)
}

/// Makes data from bytes without copying them.
///
/// - Parameters:
///   - allocator: ignored.
///   - bytes: the bytes.
///   - length: their number.
///   - bytesDeallocator: ``kCFAllocatorNull`` if the caller keeps the bytes, which must then outlive the data.
///     Otherwise the bytes must come from `malloc` and are freed with the data.
@discardableResult
public func CFDataCreateWithBytesNoCopy(
  _ allocator: CFAllocator?, _ bytes: UnsafePointer<UInt8>?, _ length: CFIndex, _ bytesDeallocator: CFAllocator?
) -> CFData? {
  guard let bytes else { return length == 0 ? NSData() : nil }
  // Transfer full, except with the null allocator: then the caller keeps the bytes.
  return NSData(
    bytesNoCopy: UnsafeMutableRawPointer(mutating: bytes), length: length,
    freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}

/// The number of elements.
@discardableResult
public func CFArrayGetCount(_ array: CFArray) -> CFIndex { array.count }

/// The number of key-value pairs.
@discardableResult
public func CFDictionaryGetCount(_ dictionary: CFDictionary) -> CFIndex { dictionary.count }

/// The number of UTF-16 units.
@discardableResult
public func CFStringGetLength(_ text: CFString) -> CFIndex { text.length }

/// The value of a CFBoolean.
@discardableResult
public func CFBooleanGetValue(_ value: CFBoolean) -> Bool { value.boolValue }

/// Sets the value of a key.
public func CFDictionarySetValue(_ dictionary: CFMutableDictionary, _ key: CFString, _ value: CFTypeRef) {
  dictionary.setObject(value, forKey: key)
}

/// The current time, in seconds since the beginning of 2001 (UTC).
@discardableResult
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date().timeIntervalSinceReferenceDate }

// Some programs build queries with Objective-C style calls, which `Foundation` only has on Apple's systems.

extension NSMutableDictionary {
  /// Sets the value of a string key. Nil removes the pair.
  public func setValue(_ value: Any?, forKey key: String) {
    if let value { setObject(value, forKey: key as NSString) } else { removeObject(forKey: key as NSString) }
  }

  /// Sets the value of a key of type `any NSCopying`, such as `kSecClass as NSCopying`.
  @_disfavoredOverload
  public func setObject(_ object: Any, forKey key: any NSCopying) {
    guard let key = key as? NSObject else { return }
    setObject(object, forKey: AnyHashable(key))
  }
}

extension NSDictionary {
  /// Makes a dictionary from keys of type `any NSCopying`.
  @_disfavoredOverload
  public convenience init(objects: [Any], forKeys keys: [any NSCopying]) {
    self.init(objects: objects, forKeys: keys.compactMap { $0 as? NSObject })
  }
}
