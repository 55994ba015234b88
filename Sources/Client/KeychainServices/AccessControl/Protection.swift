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

  /// Takes text alone.
  init?(_ value: Any) {
    guard let raw = value as? String else { return nil }
    self.init(rawValue: raw)
  }

  /// What the vault makes of it: nothing leaves the device either way, and "always" is what comes nearest to it.
  var accessibility: Accessibility {
    switch self {
    case .whenUnlocked, .whenUnlockedThisDeviceOnly: .whenUnlocked
    case .afterFirstUnlock, .always, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: .afterFirstUnlock
    case .whenPasscodeSetThisDeviceOnly: .passcodeSet
    }
  }
}
