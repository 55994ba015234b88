/// When an item is accessible. All classes stay on this device. A private vault knows no sessions and is open from the
/// start, unless its store takes the passcode for its first unlock; `passcodeSet` is refused without a passcode, and dead
/// when the passcode is removed, everywhere.
public enum Accessibility: String, Sendable, CaseIterable {
  /// While a session of the user is unlocked, from the first unlock on.
  case whenUnlocked = "when-unlocked"
  /// From the first unlock after a start of the machine, or of the vault, on.
  case afterFirstUnlock = "after-first-unlock"
  /// As `whenUnlocked`, and only while a passcode is set; dead when it is removed.
  case passcodeSet = "passcode-set"
}
