/// What has to happen before an item's key is unwrapped.
package struct AccessControl: Sendable, Hashable {
  /// The gate, under the names of `--access`.
  package enum Constraint: String, Sendable, CaseIterable {
    /// A finger of the set that was enrolled when the item was written; dead when the set changes.
    case currentSet = "current-set"
    /// Any finger enrolled at the time of reading.
    case anyFinger = "any-finger"
    /// A finger, or the passcode in its place.
    case presence
    /// The passcode; its key is part of the item's wrapping key.
    case passcode
    /// Nothing: the store being readable is enough.
    case none
  }

  package var constraint: Constraint
  /// A password of the item's own is part of its wrapping key, beside the constraint.
  package var applicationPassword: Bool

  package init(_ constraint: Constraint, applicationPassword: Bool = false) {
    self.constraint = constraint
    self.applicationPassword = applicationPassword
  }

  /// The flags as they are authenticated with the item: a bit each, in `SecAccessControlCreateFlags`' places.
  var flags: UInt64 {
    let gate: UInt64 =
      switch constraint {
      case .presence: 1 << 0
      case .anyFinger: 1 << 1
      case .currentSet: 1 << 3
      case .passcode: 1 << 4
      case .none: 0
      }
    return gate | (applicationPassword ? 1 << 31 : 0)
  }

  init?(flags: UInt64) {
    let gates = Constraint.allCases.filter { AccessControl($0).flags == flags & ~(1 << 31) }
    guard let gate = gates.first else { return nil }
    self.init(gate, applicationPassword: flags & 1 << 31 != 0)
  }
}

/// When an item is accessible. All classes stay on this device. Session rules (locked, first unlock) are the daemon's;
/// `passcodeSet` works in every tier: refused without a passcode, dead when the passcode is removed.
package enum Accessibility: String, Sendable, CaseIterable {
  case whenUnlocked = "when-unlocked"
  case afterFirstUnlock = "after-first-unlock"
  case passcodeSet = "passcode-set"
}
