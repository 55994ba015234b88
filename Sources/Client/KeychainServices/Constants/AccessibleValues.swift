public import Foundation

// The values of `kSecAttrAccessible`, which are also the protections of an access control.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

/// `ak`: accessible while the user is logged in. The default.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// `ck`: accessible after the first login since the machine started.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// `dk`: always accessible. Deprecated, and treated like `ck`.
public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"
/// `akpu`: accessible while a passcode is set. The item is deleted with the passcode.
public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// `aku`: like `ak`, and never moved to another device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// `cku`: like `ck`, and never moved to another device.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// `dku`: like `dk`, and never moved to another device. Deprecated.
public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
