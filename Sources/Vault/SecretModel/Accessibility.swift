/// When an item is accessible. Items of all classes stay on this device. A private vault ignores sessions and is open
/// from the start, unless its store requires the passcode for the first unlock. Everywhere, `passcodeSet` is refused
/// without a passcode, and such items die when the passcode is removed.
public enum Accessibility: String, Sendable, CaseIterable {
  /// While a session of the user is unlocked, from the first unlock on.
  case whenUnlocked = "when-unlocked"
  /// From the first unlock after a start of the machine, or of the vault, on.
  case afterFirstUnlock = "after-first-unlock"
  /// As `whenUnlocked`, and only while a passcode is set; dead when it is removed.
  case passcodeSet = "passcode-set"
}
