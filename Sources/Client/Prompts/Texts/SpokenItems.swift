package import SecretModel

/// What a person reads about an item. Scripts, `--json` and `--verbose` get the words of the options.
extension AccessControl {
  /// What releases the secret.
  package var spoken: String {
    let gate = constraint.map(\.spoken) ?? description
    return applicationPassword ? "\(gate), and a password of its own" : gate
  }
}

extension AccessControl.Constraint {
  package var spoken: String {
    switch self {
    case .currentSet: "one of these fingers"
    case .anyFinger: "a finger"
    case .presence: "a finger or the passcode"
    case .passcode: "the passcode"
    case .none: "nothing"
    }
  }
}

extension Accessibility {
  /// When the item is open, to follow "open".
  package var spoken: String {
    switch self {
    case .whenUnlocked: "while unlocked"
    case .afterFirstUnlock: "after the first login"
    case .passcodeSet: "with a passcode set"
    }
  }
}

extension Item.State {
  /// Nil for an item that can be used.
  package var spoken: String? {
    switch self {
    case .living: nil
    case .dead: "lost: what it was bound to is gone"
    case .damaged: "damaged"
    }
  }
}
