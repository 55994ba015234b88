// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

internal import Foundation

// Keys of `Bundle.main.infoDictionary`: keychain code names its default service by what is there. Implicitly unwrapped
// as Apple's are, and `String(kCFBundleIdentifierKey)` works on both.

/// The identifier of a bundle.
public nonisolated(unsafe) let kCFBundleIdentifierKey: CFString! = "CFBundleIdentifier"
/// The build of a bundle.
public nonisolated(unsafe) let kCFBundleVersionKey: CFString! = "CFBundleVersion"
/// The short name of a bundle.
public nonisolated(unsafe) let kCFBundleNameKey: CFString! = "CFBundleName"
/// The program of a bundle.
public nonisolated(unsafe) let kCFBundleExecutableKey: CFString! = "CFBundleExecutable"
