public import Foundation

// The values of `kSecAttrAccessible`, and the protections of an access control.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

/// `ak`: while the person is logged in; the default.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// `ck`: from the first login after a start.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// `dk`: always; deprecated, and kept as after the first unlock.
public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"
/// `akpu`: while a passcode is set; gone with it.
public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// `aku`: as `ak`, never on another device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// `cku`: as `ck`, never on another device.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// `dku`: as `dk`, never on another device; deprecated.
public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
