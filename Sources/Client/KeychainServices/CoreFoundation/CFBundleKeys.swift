// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

internal import Foundation

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
