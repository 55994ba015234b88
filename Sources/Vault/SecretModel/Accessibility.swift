/// When an item is accessible. All classes stay on this device. Session rules (locked, first unlock) are the daemon's;
/// `passcodeSet` works in every tier: refused without a passcode, dead when the passcode is removed.
public enum Accessibility: String, Sendable, CaseIterable {
  /// While the session is unlocked.
  case whenUnlocked = "when-unlocked"
  /// From the first unlock after a start of the machine on.
  case afterFirstUnlock = "after-first-unlock"
  /// Only while a passcode is set; dead when it is removed.
  case passcodeSet = "passcode-set"
}
