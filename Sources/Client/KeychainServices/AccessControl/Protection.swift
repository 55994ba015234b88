internal import Foundation
internal import SecretModel

/// The values of `kSecAttrAccessible`.
enum Protection: String, CaseIterable {
  case whenUnlocked = "ak"
  case afterFirstUnlock = "ck"
  case always = "dk"
  case whenPasscodeSetThisDeviceOnly = "akpu"
  case whenUnlockedThisDeviceOnly = "aku"
  case afterFirstUnlockThisDeviceOnly = "cku"
  case alwaysThisDeviceOnly = "dku"

  /// Nil for anything but a known text.
  init?(_ value: Any) {
    guard let raw = value as? String else { return nil }
    self.init(rawValue: raw)
  }

  /// The vault's accessibility. Items never leave the device, so "this device only" makes no difference. "Always"
  /// becomes the least strict class.
  var accessibility: Accessibility {
    switch self {
    case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
    case .afterFirstUnlock, .always, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: .afterFirstUnlock
    case .whenPasscodeSetThisDeviceOnly: .passcodeSet
    }
  }
}
