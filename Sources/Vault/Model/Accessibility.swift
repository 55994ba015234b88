/// When an item is accessible. All classes stay on this device. Session rules (locked, first unlock) are the daemon's;
/// `passcodeSet` works in every tier: refused without a passcode, dead when the passcode is removed.
public enum Accessibility: String, Sendable, CaseIterable {
  case whenUnlocked = "when-unlocked"
  case afterFirstUnlock = "after-first-unlock"
  case passcodeSet = "passcode-set"
}
