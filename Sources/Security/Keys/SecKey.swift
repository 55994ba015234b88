// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation

/// A cryptographic key.
public final class SecKey: NSObject, Sendable {
}

/// The identifier of keys.
public func SecKeyGetTypeID() -> CFTypeID { 302 }
